/** Translates a Compose file into tasks, one for each service. */
import {
  checkGroup,
  checkTask,
  type Finding,
  type ParsedFile,
  type Problem,
  parsedFile,
  pathOf,
  type ReadDocument,
  shapeProblems,
  type TaskInput,
  type TaskSpec,
  taskSchema,
} from "../../engine/spec/index.ts";
import { Expansion } from "../expansion.ts";
import { withoutNulls } from "../nulls.ts";
import { extended } from "./extends.ts";
import { fieldsOf, isMap } from "./fields.ts";
import { type Environment, interpolate } from "./interpolate.ts";
import { type ComposeInput, composeFile, type ServiceInput } from "./schema.ts";
import { taskOf } from "./service.ts";

export interface ComposeOptions {
  /** Variables of the caller, for "${NAME}" in the file and for variables without a value. */
  readonly environment: Environment;
  /** Absolute directory to which paths in the file are relative. */
  readonly directory: string;
  /** Active profiles. */
  readonly profiles: readonly string[];
  /** Prefix for image names without a registry, such as "oci:/srv/images". */
  readonly images?: string | undefined;
  /** Reads a file named by env_file, secrets, configs or extends; the path is absolute. @throws the error of open(2) or read(2) */
  readonly readFile: (path: string) => Buffer;
}

export interface ComposeFile extends ParsedFile {
  /** The tasks in the format of a task file. Empty if there are findings. */
  readonly inputs: readonly TaskInput[];
  /** Name of the project; undefined if the file does not set it. */
  readonly name: string | undefined;
  /** Converts a finding about one of the inputs, each a document of its own, to one about this file. */
  origin(finding: Finding): Finding;
}

/** A file without tasks. */
export function failed(findings: readonly Finding[]): ComposeFile {
  return { ...parsedFile([], findings), inputs: [], name: undefined, origin: (finding) => finding };
}

export function tasksOfCompose(document: ReadDocument, options: ComposeOptions): ComposeFile {
  const problems: Problem[] = [];
  const expansion = new Expansion();
  const prepare = (value: unknown) => filled(withoutNullFields(value), { environment: options.environment, expansion }, [], problems);
  const value = withoutExtensions(extended(prepare(document.value), { ...options, prepare }, problems));
  const parsed = composeFile.safeParse(value);
  if (!parsed.success || problems.length > 0) {
    return failed([...problems, ...(parsed.success ? [] : shapeProblems(parsed.error))].map(document.place));
  }
  const active = Object.entries(parsed.data.services).filter(([, { profiles = [] }]) => isActive(profiles, options.profiles));
  const tasks: TaskSpec[] = [];
  const inputs = active.map(([name, service]) => inputOf(name, service, parsed.data, options, problems));
  // After problems found here, the engine's checks are skipped, because they would report the same problems again.
  if (problems.length > 0) return failed(problems.map(document.place));
  for (const [index, input] of inputs.entries()) {
    const name = active[index]![0];
    const checked = taskSchema.safeParse(input);
    const found = checked.success ? checkTask(checked.data) : shapeProblems(checked.error);
    problems.push(...found.map((one) => ({ ...one, path: ["services", name, ...fieldOf(one.path)] })));
    if (checked.success) tasks.push(checked.data);
  }
  if (problems.length === 0) {
    for (const { task, ...problem } of checkGroup(tasks))
      problems.push({ ...problem, path: ["services", tasks[task]!.name, "depends_on"] });
  }
  if (problems.length > 0) return failed(problems.map(document.place));
  const origin = ({ code, message, pointer, document: index }: Finding) =>
    document.place({ code, message, path: ["services", inputs[index]!.name, ...fieldOf(pathOf(pointer))] });
  return { ...parsedFile(tasks, []), inputs, name: parsed.data.name, origin };
}

function inputOf(name: string, service: ServiceInput, project: ComposeInput, options: ComposeOptions, problems: Problem[]): TaskInput {
  const refuse = (message: string, path: readonly (string | number)[]) => {
    problems.push({ code: "combination", message, path: ["services", name, ...path] });
  };
  const { environment, directory, images, readFile, profiles: wanted } = options;
  const isOn = (other: string) => other in project.services && isActive(project.services[other]!.profiles ?? [], wanted);
  return taskOf(name, service, project, { environment, directory, images, readFile, refuse, isActive: isOn });
}

function isActive(profiles: readonly string[], wanted: readonly string[]): boolean {
  return profiles.length === 0 || profiles.some((one) => wanted.includes(one));
}

const FIELDS: Readonly<Record<string, string>> = {
  rootfs: "x-runt-rootfs",
  cwd: "working_dir",
  capabilities: "cap_add",
  healthCheck: "healthcheck",
  stopSignal: "stop_signal",
  mounts: "volumes",
};

/** Namespaces of a task. */
const NAMESPACES: Readonly<Record<string, string>> = { network: "network_mode", pid: "pid", ipc: "ipc" };

/** Converts a path in a service's task to a path of the service. */
function fieldOf(path: Problem["path"]): Problem["path"] {
  const [list, at, field, part] = path;
  if (list === "network") return ["ports"];
  if (list === "sysctls" || list === "runtime") return [list];
  if (list === "namespaces") return NAMESPACES[String(at)] === undefined ? [] : [NAMESPACES[String(at)]!];
  if (field === "capabilities" && part === "drop") return ["cap_drop"];
  return typeof field === "string" ? [FIELDS[field] ?? field] : [];
}

interface Given {
  readonly environment: Environment;
  readonly expansion: Expansion;
}

/** Replaces variables in all values, but not in keys. */
function filled(value: unknown, given: Given, path: readonly (string | number)[], problems: Problem[]): unknown {
  if (typeof value === "string") {
    try {
      return interpolate(value, given.environment, given.expansion);
    } catch (error) {
      problems.push({ code: "syntax", message: (error as Error).message, path });
      return value;
    }
  }
  if (Array.isArray(value)) return value.map((one, index) => filled(one, given, [...path, index], problems));
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, filled(one, given, [...path, key], problems)]));
}

/** Removes null fields, except in environments, where a variable without a value has a meaning. */
function withoutNullFields(value: unknown): unknown {
  const stripped = withoutNulls(value);
  const given = fieldsOf(value);
  const services = fieldsOf(given["services"]);
  if (Object.keys(services).length === 0) return stripped;
  const clean = fieldsOf(fieldsOf(stripped)["services"]);
  // A service without any fields must still exist.
  const restored = Object.keys(services).map((name) => {
    const { environment, networks } = fieldsOf(services[name]);
    const one = clean[name] ?? {};
    const kept = { ...(isMap(environment) ? { environment } : {}), ...(isMap(networks) ? { networks: withNulls(networks) } : {}) };
    return [name, isMap(one) ? { ...one, ...kept } : one];
  });
  const named = ["networks", "volumes"].flatMap((field) => (isMap(given[field]) ? [[field, withNulls(given[field])]] : []));
  return { ...fieldsOf(stripped), ...Object.fromEntries(named), services: Object.fromEntries(restored) };
}

/** Keeps null values of the fields themselves, but not below them. */
function withNulls(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).map(([key, one]) => [key, one === null ? null : withoutNulls(one)]));
}

/** Removes fields that begin with "x-", which belong to the user, except those that this project defines. */
function withoutExtensions(value: unknown): unknown {
  const top = fieldsOf(value);
  const kept = (fields: Readonly<Record<string, unknown>>, own?: string) =>
    Object.fromEntries(Object.entries(fields).filter(([key]) => !key.startsWith("x-") || key === own));
  const services = top["services"];
  if (!isMap(services)) return isMap(value) ? kept(top) : value;
  const clean = Object.entries(services).map(([name, one]) => [name, isMap(one) ? kept(one, "x-runt-rootfs") : one]);
  return { ...kept(top), services: Object.fromEntries(clean) };
}
