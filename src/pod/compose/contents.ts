/** Translates secrets and configs of a service to files of volumes, and its env_file to variables. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { rawVariablesIn, variablesIn } from "./env-file.ts";
import { pairsOf } from "./fields.ts";
import { hostPath } from "./paths.ts";
import type { ServicePlace } from "./place.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];
type Kind = "secrets" | "configs";

/** Directory of files without an absolute target. Source: Compose specification, "secrets" and "configs" of a service. */
const DIRECTORY: Readonly<Record<Kind, string>> = { secrets: "/run/secrets/", configs: "/" };
/** Readable by everyone, Compose's default. */
const MODE = 0o444;
const MOST_MODE = 0o777;

export interface Contents {
  readonly volumes: Volume[];
  readonly mounts: Mount[];
}

/** Makes one volume for all secrets of the service, and one for all configs. Volumes of a Compose file cannot get these names in the task. */
export function contentsOf(service: ServiceInput, project: ComposeInput, place: ServicePlace): Contents {
  const all = (["secrets", "configs"] as const).map((kind) => filesOf(kind, service[kind] ?? [], project, place));
  return { volumes: all.flatMap(({ volumes }) => volumes), mounts: all.flatMap(({ mounts }) => mounts) };
}

function filesOf(kind: Kind, wanted: NonNullable<ServiceInput[Kind]>, project: ComposeInput, place: ServicePlace): Contents {
  const files: NonNullable<Volume["files"]> = {};
  const mounts: Mount[] = [];
  // As with Compose, which mounts any source as it is.
  const bound: Mount[] = [];
  for (const [index, { source, target, uid, gid, mode: modeGiven }] of wanted.entries()) {
    const path = [kind, index];
    const content = contentOf(kind, source, project, place, path);
    if (content === undefined) continue;
    const given = target ?? source;
    const to = given.startsWith("/") ? given : `${DIRECTORY[kind]}${given}`;
    if (typeof content === "string") {
      for (const [field, value] of Object.entries({ uid, gid, mode: modeGiven }))
        if (value !== undefined) place.warn("has no effect: a directory is mounted as it is", [...path, field]);
      bound.push({ source: content, target: to, readOnly: true });
      continue;
    }
    const mode = modeGiven ?? MODE;
    const name = `file-${index}`;
    if (mode > MOST_MODE)
      place.warn(`is ${mode.toString(8)} in octal, of which ${(mode & MOST_MODE).toString(8)} counts: is 0${mode} meant?`, [
        ...path,
        "mode",
      ]);
    files[name] = {
      content: content.toString("base64"),
      encoding: "base64",
      mode: mode & MOST_MODE,
      ...(uid === undefined ? {} : { uid }),
      ...(gid === undefined ? {} : { gid }),
    };
    mounts.push({ volume: kind, subPath: name, target: to, readOnly: true });
  }
  return { volumes: mounts.length === 0 ? [] : [{ name: kind, files }], mounts: [...mounts, ...bound] };
}

/** A text is the path of a directory. undefined: the content was refused. */
export function contentOf(
  kind: Kind,
  source: string,
  project: ComposeInput,
  place: ServicePlace,
  path: readonly (string | number)[],
): Buffer | string | undefined {
  const { environment, readFile, refuse, lacks } = place;
  const word = kind.slice(0, -1);
  const definition = project[kind]?.[source];
  if (definition === undefined) {
    refuse(`the file has no ${word} ${source}`, path);
    return undefined;
  }
  if (definition.external !== undefined && definition.external !== false) {
    lacks(`the ${word} ${source} is external, and there is no store of others that it could come from`, path);
    return undefined;
  }
  if ("content" in definition && definition.content !== undefined) return Buffer.from(definition.content);
  if (definition.environment !== undefined) {
    const value = environment[definition.environment];
    if (value === undefined) lacks(`the variable ${definition.environment} of the ${word} ${source} is not set`, path);
    return value === undefined ? undefined : Buffer.from(value);
  }
  const file = hostPath(place, definition.file ?? "", path);
  try {
    return readFile(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EISDIR") return file;
    lacks(`the file of the ${word} ${source} cannot be read: ${(error as Error).message}`, path);
    return undefined;
  }
}

/**
 * Later files take precedence. Values may refer to the caller's environment, and to `environment` of the service. Source: compose-go,
 * types/project.go, WithServicesEnvironmentResolved.
 */
export function envFilesOf({ env_file: given = [], environment }: ServiceInput, place: ServicePlace): Record<string, string> {
  const list = (typeof given === "string" ? [given] : given).map((one) => (typeof one === "string" ? { path: one } : one));
  const known = { ...pairsOf(environment, place.environment), ...place.environment };
  return filesIn("env_file", list, typeof given === "string", { ...place, environment: known });
}

/** Labels from files, which have the format of env files. */
export function labelFilesOf({ label_file: given = [] }: ServiceInput, place: ServicePlace): Record<string, string> {
  const list = (typeof given === "string" ? [given] : given).map((path) => ({ path }));
  return filesIn("label_file", list, typeof given === "string", place);
}

interface FileOfPairs {
  readonly path: string;
  readonly required?: boolean | undefined;
  readonly format?: "raw" | undefined;
}

function filesIn(field: string, list: readonly FileOfPairs[], isOne: boolean, place: ServicePlace): Record<string, string> {
  const values: Record<string, string> = {};
  const expansion = new Expansion();
  for (const [index, { path, required = true, format }] of list.entries()) {
    const at = isOne ? [field] : [field, index];
    const told = new Set<string>();
    const unset = (name: string) => {
      if (told.size < told.add(name).size) place.warn(`${path}: the variable ${name} is not set: it is empty`, at);
    };
    try {
      const text = place.readFile(hostPath(place, path, at)).toString();
      Object.assign(values, format === "raw" ? rawVariablesIn(text) : variablesIn(text, place.environment, expansion, unset, values));
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isAbsent || required) place.refuse(`${path}: ${isAbsent ? "there is no such file" : (error as Error).message}`, at);
    }
  }
  return values;
}
