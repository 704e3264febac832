/** Reads and merges the files of a project: the given files, included files, and files of extended services. */
import { type Finding, type Problem, type ReadDocument, readDocuments } from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { variablesIn } from "./env-file.ts";
import { extended } from "./extends.ts";
import { type Fields, type FieldTypes, fieldsOf, isMap, NO_SUCH, unfitFields, unknownFields } from "./fields.ts";
import { KINDS, mergedFiles, withoutPath, withoutReplaced, withPathsIn } from "./merge.ts";
import type { Base, ComposeOptions, Layer } from "./model.ts";
import { absolute, directoryOf } from "./paths.ts";
import { AS_COMPOSE, emptyFields, type Preparation, prepared } from "./prepare.ts";

export interface ComposeText {
  readonly text: string;
  /** Path of the file, for findings; undefined: the file that the caller names itself. */
  readonly file?: string | undefined;
}

/** Maximum depth of files that include each other. */
const MOST_INCLUDED = 20;

export class Loading {
  readonly #layers: Layer[] = [];
  readonly #bases = new Map<string, Base[]>();
  readonly #expansion = new Expansion();
  readonly #unset = new Set<string>();
  /** Whether one of the files is a Compose file. */
  isCompose = false;
  readonly problems: Problem[] = [];
  readonly warnings: Problem[] = [];
  /** Syntax errors in the texts. */
  readonly syntax: Finding[] = [];

  load(files: readonly ComposeText[], options: ComposeOptions, chain: readonly string[] = []): unknown {
    let all: unknown;
    for (const { text, file } of files) {
      for (const document of readDocuments(text, "service", AS_COMPOSE)) {
        if (document.findings.length > 0) {
          this.syntax.push(...document.findings.map((one) => inFile(one, file)));
          continue;
        }
        const value = this.#layer({ document, file }, options, chain, all);
        all = all === undefined ? value : mergedFiles(withoutTagged(all, document), value);
      }
    }
    return withoutReplaced(all);
  }

  /** Merges one document with those before it. @param below the result of the documents before it */
  #layer(layer: Layer, options: ComposeOptions, chain: readonly string[], below: unknown): unknown {
    this.#layers.push(layer);
    const { document } = layer;
    const fields = fieldsOf(document.value);
    if ("services" in fields || "include" in fields) this.isCompose = true;
    const preparation = this.#preparation(options);
    const prepare = (value: unknown) => prepared(value, preparation);
    const reset = document.tagged.filter(({ tag }) => tag === "!reset");
    const without = (all: unknown) => reset.reduce<unknown>((rest, { path }) => withoutPath(rest, path), all);
    this.problems.push(...emptyFields(without(document.value), below ?? null));
    const value = without(prepare(document.value));
    const whole = extended(
      value,
      { ...options, layer, prepare, warnings: this.warnings, based: (service, base) => this.#based(service, base) },
      this.problems,
    );
    const { include } = fieldsOf(whole);
    return include === undefined ? whole : this.#included(whole, include, options, chain);
  }

  #preparation({ environment }: ComposeOptions): Preparation {
    return { environment, expansion: this.#expansion, unset: this.#unset, problems: this.problems, warnings: this.warnings };
  }

  #based(service: string, base: Base): void {
    const known = this.#bases.get(service);
    if (known === undefined) this.#bases.set(service, [base]);
    else known.push(base);
  }

  /** Adds included files. A name that is in both files is refused, unless both definitions are the same. */
  #included(value: unknown, include: unknown, options: ComposeOptions, chain: readonly string[]): unknown {
    if (include !== null && !Array.isArray(include))
      this.problems.push({ code: "shape", message: 'is a list, as in "include: [other.yaml]"', path: ["include"] });
    const list = Array.isArray(include) ? include : [];
    let all: unknown = withoutPath(value, ["include"]);
    for (const [index, one] of list.entries()) {
      const path = ["include", index];
      const tell = (message: string) => this.problems.push({ code: "unknown-reference", message, path });
      const map: Fields = typeof one === "string" ? { path: one } : fieldsOf(one);
      for (const field of unknownFields(map, INCLUDE)) this.warnings.push({ code: "shape", message: NO_SUCH, path: [...path, field] });
      const unfit = unfitFields(map, INCLUDE);
      for (const { field, message } of unfit) this.problems.push({ code: "shape", message, path: [...path, field] });
      if (unfit.length > 0) continue;
      const { files, directory, envFiles } = includeOf(map, options.directory);
      const [wrong] = files.length === 0 ? ["names no file"] : files.filter((file) => chain.includes(file));
      if (wrong !== undefined) tell(files.length === 0 ? wrong : `${wrong} includes itself`);
      if (chain.length >= MOST_INCLUDED) tell(`more than ${MOST_INCLUDED} files include each other`);
      if (wrong !== undefined || chain.length >= MOST_INCLUDED) continue;
      try {
        const texts = files.map((file) => ({ file, text: readIn(file, options) }));
        const environment = this.#environmentOf(envFiles, directory, options);
        const loaded = this.load(texts, { ...options, directory, environment }, [...chain, ...files]);
        const read = fieldsOf(withPathsIn(directory, withOwnVariables(loaded, environment)));
        // An included file is no project of its own: its name, for example, is not that of this one.
        const inner = Object.fromEntries(Object.entries(read).filter(([kind]) => KINDS.includes(kind)));
        for (const name of conflicts(inner, all)) tell(`${name} is in the file and in what it includes`);
        all = mergedFiles(inner, all);
      } catch (error) {
        if (!(error instanceof Unreadable)) throw error;
        tell(error.message);
      }
    }
    return all;
  }

  /** Variables of the env files of an include, or of .env in its directory. Variables that are already known take precedence. */
  #environmentOf(files: readonly string[] | undefined, directory: string, options: ComposeOptions): ComposeOptions["environment"] {
    const known = { ...options.environment };
    for (const file of files ?? [`${directory}/.env`]) {
      let text: string;
      try {
        text = readIn(file, options);
      } catch (error) {
        if (files === undefined) continue;
        throw error;
      }
      try {
        Object.assign(known, { ...variablesIn(text, known, this.#expansion), ...options.environment });
      } catch (error) {
        throw new Unreadable(`${file}: ${(error as Error).message}`);
      }
    }
    return known;
  }

  place(problem: Problem): Finding {
    const [list, service, ...rest] = problem.path;
    const { layer, depth } = this.#deepest(problem.path);
    if (list === "services" && typeof service === "string" && depth <= 2 && rest.length > 0) {
      for (const base of this.#bases.get(service) ?? []) {
        const path = ["services", base.service, ...rest];
        if (depthIn(base.layer, path) <= 2) continue;
        const found = inFile(base.layer.document.place({ ...problem, path }), base.layer.file);
        return { ...found, pointer: layer.document.place(problem).pointer };
      }
    }
    return inFile(layer.document.place(problem), layer.file);
  }

  /** The document that has the most parts of a path; of several, the last one, because later files take precedence. */
  #deepest(path: Problem["path"]): { readonly layer: Layer; readonly depth: number } {
    let found = { layer: this.#layers[0]!, depth: -1 };
    for (const layer of this.#layers) {
      const depth = depthIn(layer, path);
      if (depth >= found.depth) found = { layer, depth };
    }
    return found;
  }
}

/** Number of parts of the path that exist in the document. */
function depthIn({ document }: Layer, path: Problem["path"]): number {
  let value = document.value;
  for (const [index, part] of path.entries()) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, String(part))) return index;
    value = (value as Fields)[String(part)];
  }
  return path.length;
}

function inFile(finding: Finding, file: string | undefined): Finding {
  return file === undefined ? finding : { ...finding, file };
}

/** Removes the fields that a later file resets or overrides. */
function withoutTagged(value: unknown, { tagged }: ReadDocument): unknown {
  return tagged.reduce<unknown>((rest, { path }) => withoutPath(rest, path), value);
}

class Unreadable extends Error {}

/** @throws Unreadable */
function readIn(file: string, { readFile }: ComposeOptions): string {
  try {
    return readFile(file).toString();
  } catch (error) {
    throw new Unreadable(`${file} cannot be read: ${(error as Error).message}`);
  }
}

/** Fields of an include. Source: compose-spec.json, "include". */
const INCLUDE: FieldTypes = { path: "texts", env_file: "texts", project_directory: "text" };

/**
 * Variables without a value in the lists of an included file get those that its own env files know. Others get theirs with the whole project.
 * Source: compose-go, loader/environment.go, resolveServicesEnvironment.
 */
function withOwnVariables(value: unknown, environment: ComposeOptions["environment"]): unknown {
  const { services } = fieldsOf(value);
  if (!isMap(services)) return value;
  const known = (one: unknown) => (typeof one === "string" && environment[one] !== undefined ? `${one}=${environment[one]}` : one);
  const all = Object.entries(services).map(([name, service]) => {
    const { environment: list } = fieldsOf(service);
    return [name, Array.isArray(list) ? { ...fieldsOf(service), environment: list.map(known) } : service];
  });
  return { ...fieldsOf(value), services: Object.fromEntries(all) };
}

interface Include {
  readonly files: readonly string[];
  readonly directory: string;
  /** undefined: the include names no env files. */
  readonly envFiles: readonly string[] | undefined;
}

/** Source: Compose specification, "include". */
function includeOf(map: Fields, directory: string): Include {
  const list = (value: unknown) => (Array.isArray(value) ? value : [value]).filter((path): path is string => typeof path === "string");
  const { path, project_directory: own, env_file: env } = map;
  const files = list(path).map((file) => absolute(directory, file));
  const at = typeof own === "string" ? absolute(directory, own) : directoryOf(files[0] ?? directory);
  return { files, directory: at, envFiles: env === undefined ? undefined : list(env).map((file) => absolute(directory, file)) };
}

/** Names that are in both files with different contents. */
function conflicts(a: unknown, b: unknown): string[] {
  return KINDS.flatMap((kind) => {
    const [one, other] = [fieldsOf(fieldsOf(a)[kind]), fieldsOf(fieldsOf(b)[kind])];
    const same = (name: string) => JSON.stringify(one[name] ?? {}) === JSON.stringify(other[name] ?? {});
    return Object.keys(one)
      .filter((name) => isMap(other) && Object.hasOwn(other, name) && !same(name))
      .map((name) => `${kind}.${name}`);
  });
}
