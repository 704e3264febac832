/** Translates secrets and configs of a service to files of volumes, and its env_file to variables. */
import type { TaskInput } from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { variablesIn } from "./env-file.ts";
import type { ServicePlace } from "./mounts.ts";
import { absolute } from "./paths.ts";
import type { ComposeInput, ServiceInput } from "./schema.ts";

type Volume = NonNullable<TaskInput["volumes"]>[number];
type Mount = NonNullable<TaskInput["containers"][number]["mounts"]>[number];
type Kind = "secrets" | "configs";

/** Directory of files without an absolute target. Source: Compose specification, "secrets" and "configs" of a service. */
const DIRECTORY: Readonly<Record<Kind, string>> = { secrets: "/run/secrets/", configs: "/" };
/** Readable by everyone, Compose's default. */
const MODE = 0o444;

export interface Contents {
  readonly volumes: Volume[];
  readonly mounts: Mount[];
}

/** One volume for each of `secrets` and `configs`. Volumes of a Compose file cannot get these names in the task. */
export function contentsOf(service: ServiceInput, project: ComposeInput, place: ServicePlace): Contents {
  const all = (["secrets", "configs"] as const).map((kind) => filesOf(kind, service[kind] ?? [], project, place));
  return { volumes: all.flatMap(({ volumes }) => volumes), mounts: all.flatMap(({ mounts }) => mounts) };
}

function filesOf(kind: Kind, wanted: NonNullable<ServiceInput[Kind]>, project: ComposeInput, place: ServicePlace): Contents {
  const files: NonNullable<Volume["files"]> = {};
  const mounts: Mount[] = [];
  for (const [index, { source, target, mode = MODE }] of wanted.entries()) {
    const path = [kind, index];
    const content = contentOf(kind, source, project, place, path);
    if (content === undefined) continue;
    const name = `file-${index}`;
    files[name] = { content: content.toString("base64"), encoding: "base64", mode };
    const given = target ?? source;
    mounts.push({
      volume: kind,
      subPath: name,
      target: given.startsWith("/") ? given : `${DIRECTORY[kind]}${given}`,
      readOnly: true,
    });
  }
  return { volumes: mounts.length === 0 ? [] : [{ name: kind, files }], mounts };
}

/** undefined: the file was refused. */
function contentOf(
  kind: Kind,
  source: string,
  project: ComposeInput,
  { environment, directory, readFile, refuse }: ServicePlace,
  path: readonly (string | number)[],
): Buffer | undefined {
  const word = kind.slice(0, -1);
  const definition = project[kind]?.[source];
  if (definition === undefined) {
    refuse(`the file has no ${word} ${source}`, path);
    return undefined;
  }
  if (definition.content !== undefined) return Buffer.from(definition.content);
  if (definition.environment !== undefined) {
    const value = environment[definition.environment];
    if (value === undefined) refuse(`the variable ${definition.environment} of the ${word} ${source} is not set`, path);
    return value === undefined ? undefined : Buffer.from(value);
  }
  const file = absolute(directory, definition.file ?? "");
  try {
    return readFile(file);
  } catch (error) {
    refuse(`the file of the ${word} ${source} cannot be read: ${(error as Error).message}`, path);
    return undefined;
  }
}

/** Later files take precedence. */
export function envFilesOf({ env_file: given = [] }: ServiceInput, place: ServicePlace): Record<string, string> {
  const values: Record<string, string> = {};
  const expansion = new Expansion();
  const list = typeof given === "string" ? [given] : given;
  for (const [index, one] of list.entries()) {
    const { path, required = true } = typeof one === "string" ? { path: one } : one;
    const at = typeof given === "string" ? ["env_file"] : ["env_file", index];
    try {
      const text = place.readFile(absolute(place.directory, path)).toString();
      Object.assign(values, variablesIn(text, { ...place.environment, ...values }, expansion));
    } catch (error) {
      const isAbsent = (error as NodeJS.ErrnoException).code === "ENOENT";
      if (!isAbsent || required) place.refuse(`${path}: ${isAbsent ? "there is no such file" : (error as Error).message}`, at);
    }
  }
  return values;
}
