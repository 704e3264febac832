/** Merges services with the service that they extend, from the same file or another one. Source: Compose specification, "extends". */
import { type Problem, readDocuments, renderFinding } from "../../engine/spec/index.ts";
import { type Fields, type FieldTypes, fieldsOf, NO_SUCH, unfitFields, unknownFields } from "./fields.ts";
import { merged, withoutPath, withPathsOf } from "./merge.ts";
import type { Base, Layer } from "./model.ts";
import { absolute, directoryOf } from "./paths.ts";
import { AS_COMPOSE } from "./prepare.ts";

export interface ExtendsOptions {
  /** Absolute directory to which paths in the file are relative. */
  readonly directory: string;
  /** @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
  /** Called for each file before its services are merged, to replace variables. */
  readonly prepare: (value: unknown) => unknown;
  /** Fields without an effect are added to it. */
  readonly warnings: Problem[];
  /** The document in which the services are. */
  readonly layer: Layer;
  /** Called with each service and the base that it extends. */
  readonly based: (service: string, base: Base) => void;
}

/** A file, and the directory to which its paths are relative. */
interface Project {
  /** Path of the file; "" for the file that is applied. */
  readonly file: string;
  readonly directory: string;
  readonly services: Fields;
  readonly layer: Layer;
}

/** Errors are added to `problems`, with the path of the extending service. */
export function extended(value: unknown, options: ExtendsOptions, problems: Problem[]): unknown {
  const services = fieldsOf(fieldsOf(value)["services"]);
  if (Object.keys(services).length === 0) return value;
  const project = { file: "", directory: options.directory, services, layer: options.layer };
  const files = new Map<string, Project>();
  const resolved = Object.keys(services).map((name) => {
    try {
      return [name, resolve(project, name, [], { ...options, files })];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      problems.push({ code: "unknown-reference", message: error.message, path: ["services", name, "extends"] });
      return [name, withoutBase(fieldsOf(services[name]))];
    }
  });
  return { ...fieldsOf(value), services: Object.fromEntries(resolved) };
}

interface Options extends ExtendsOptions {
  /** Files that were already read, by path. */
  readonly files: Map<string, Project>;
}

/** Maximum number of services that extend each other in a chain. */
const LONGEST_CHAIN = 50;

/** Source: compose-spec.json, "extends" of a service. */
const EXTENDS: FieldTypes = { service: "text", file: "text" };

class Refusal extends Error {}

/** @throws Refusal */
function resolve(project: Project, name: string, behind: readonly string[], options: Options): Fields {
  const service = fieldsOf(project.services[name]);
  const { extends: base } = service;
  const own = withoutBase(service);
  if (base === undefined) return own;
  const map: Fields = typeof base === "string" ? { service: base } : fieldsOf(base);
  const path = ["services", behind[0] ?? name, "extends"];
  for (const field of unknownFields(map, EXTENDS)) options.warnings.push({ code: "shape", message: NO_SUCH, path: [...path, field] });
  const [unfit] = unfitFields(map, EXTENDS);
  if (unfit !== undefined) throw new Refusal(`${unfit.field} ${unfit.message}`);
  const { service: target, file } = map;
  const from = typeof file === "string" ? projectIn(absolute(project.directory, file), options) : project;
  if (typeof target !== "string" || !Object.hasOwn(from.services, target))
    throw new Refusal(`there is no service ${String(target)}${from.file === "" ? "" : ` in ${from.file}`}`);
  const chain = [...behind, qualifiedName(project, name)];
  if (chain.includes(qualifiedName(from, target)))
    throw new Refusal(`services extend each other: ${[...chain, qualifiedName(from, target)].join(" -> ")}`);
  if (chain.length > LONGEST_CHAIN) throw new Refusal(`more than ${LONGEST_CHAIN} services extend each other`);
  options.based(behind[0] ?? name, { layer: from.layer, service: target });
  const below = resolve(from, target, chain, options);
  const kept = project.layer.document.tagged.reduce<unknown>(
    (rest, { path: [, service, ...path] }) => {
      return service === name && path.length > 0 ? withoutPath(rest, path) : rest;
    },
    from === project ? below : withPathsOf(from.directory, below),
  );
  return merged(fieldsOf(kept), own);
}

function qualifiedName({ file }: Project, name: string): string {
  return file === "" ? name : `${file}#${name}`;
}

function withoutBase({ extends: _, ...own }: Fields): Fields {
  return own;
}

function projectIn(file: string, { readFile, prepare, files }: Options): Project {
  const read = files.get(file);
  if (read !== undefined) return read;
  const [document, second] = readDocuments(textOf(file, readFile), "service", AS_COMPOSE);
  const [finding] = document!.findings;
  if (finding !== undefined) throw new Refusal(renderFinding(finding, file));
  if (second !== undefined) throw new Refusal(`${file}: a Compose file is one document`);
  const services = fieldsOf(fieldsOf(prepare(document!.value))["services"]);
  const project = { file, directory: directoryOf(file), services, layer: { document: document!, file } };
  files.set(file, project);
  return project;
}

function textOf(file: string, readFile: ExtendsOptions["readFile"]): string {
  try {
    return readFile(file).toString();
  } catch (error) {
    throw new Refusal(`${file} cannot be read: ${(error as Error).message}`);
  }
}
