/** Configuration of the daemon, from the values of its command line and its configuration file. */
import { isAbsolute, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import {
  type EngineSettings,
  type HostCapacity,
  type ImageSettings,
  PULL_POLICIES,
  RUNTIME_NAME,
  type SecretSource,
  type UserRange,
} from "../engine/index.ts";
import { type InterlinkConfiguration, interlinkSettingsOf } from "./interlink/config.ts";
import { OPTIONS, type Settings, type Values } from "./options.ts";
import { countOf, durationOf, oneOf, sizeOf } from "./values.ts";

export interface OnceOptions {
  /** A path, or "-" for standard input. */
  readonly file: string;
  readonly group: string;
}

/** Settings of the engine from the command line. undefined: the engine's default. */
export type EnginePart = Omit<EngineSettings, "namespaceDir" | "usersDir" | "isOwnProcess" | "log" | "probe" | "pollMs">;

export interface Configuration {
  readonly engine: EnginePart;
  readonly isStateDirGiven: boolean;
  /** For `--once`: run the tasks of this file to their end, without a daemon. */
  readonly once: OnceOptions | undefined;
  /** Directory of the two sockets. */
  readonly runDir: string;
  /** undefined: interLink is disabled. */
  readonly interlink: InterlinkConfiguration | undefined;
  readonly watch: { readonly directories: readonly string[]; readonly everyMs: number | undefined };
}

export const STATE_DIR = "/var/lib/runtd";

/** The values of the command line. @throws Error: it has something else */
export function valuesOf(args: readonly string[]): Values {
  return parseArgs({ args: [...args], options: OPTIONS }).values;
}

/** @throws Error: a value is wrong, or some do not belong together */
export function configurationOf(values: Values): Configuration {
  const paths = {
    stateDir: values["state-dir"] ?? STATE_DIR,
    runDir: values["run-dir"] ?? "/run/runtd",
    cgroupParent: values["cgroup-parent"] ?? "/runtd",
    runtime: values.runtime,
    journalSocket: values["journal-socket"],
    resolver: values.resolver,
  };
  for (const [name, path] of Object.entries(paths)) {
    if (path !== undefined && !isAbsolute(path)) throw new Error(`${name}: ${path} is not absolute`);
  }
  const order = oneOf("queue", values.queue, ["fifo", "backfill"]);
  const tooLarge = oneOf("too-large", values["too-large"], ["wait", "refuse"]);
  const orphans = oneOf("orphans", values.orphans, ["show", "adopt", "stop"]);
  const portTaken = oneOf("port-taken", values["port-taken"], ["wait", "refuse"]);
  const isOnce = values.once ?? false;
  if (isOnce !== (values.file !== undefined)) throw new Error("--once and -f FILE belong together");
  const interlink = interlinkSettingsOf(values);
  if (isOnce && values.watch !== undefined) throw new Error("--once runs one file, and watches no directory");
  if (isOnce && interlink !== undefined) throw new Error("--once has no sockets, and --interlink is one");
  const { runDir, ...enginePaths } = paths;
  return {
    engine: {
      ...enginePaths,
      orphans: orphans ?? "show",
      moved: values.moved ?? false,
      cgroupManager: oneOf("cgroup-manager", values["cgroup-manager"], ["cgroupfs", "systemd"]),
      runtimes: runtimesOf(values["runtime-class"]),
      userIds: userIdsOf(values["user-ids"]),
      taskLimits: !(values["no-task-limits"] ?? false),
      launchTimeoutMs: durationOf("launch-timeout", values["launch-timeout"]),
      capacity: capacityOf(values),
      images: imageSettingsOf(values),
      options: { pullUpfront: values["pull-upfront"] ?? false },
      queue: {
        ...(order === undefined ? {} : { order }),
        ...(tooLarge === undefined ? {} : { tooLarge }),
        ...(portTaken === undefined ? {} : { portTaken }),
      },
      cdiPath: directoriesOf("cdi-path", values["cdi-path"]),
      cniPath: directoriesOf("cni-path", values["cni-path"]),
      packetFilter: oneOf("packet-filter", values["packet-filter"], ["auto", "nft", "iptables"]),
      networkTimeoutMs: durationOf("network-timeout", values["network-timeout"]),
      networkCheckMs: durationOf("network-check", values["network-check"]),
      volumeCheckMs: durationOf("volume-check", values["volume-check"]),
    },
    runDir,
    isStateDirGiven: values["state-dir"] !== undefined,
    once: values.file === undefined ? undefined : { file: values.file, group: values.group ?? "default" },
    interlink,
    watch: { directories: watchedOf(values.watch), everyMs: durationOf("watch-every", values["watch-every"]) },
  };
}

/** @throws Error: a path is not absolute, or a directory is in another one */
function watchedOf(directories: readonly string[] = []): string[] {
  const all = directories.map((path) => {
    if (!isAbsolute(path)) throw new Error(`watch: ${path} is not absolute`);
    return resolve(path);
  });
  for (const [index, path] of all.entries()) {
    const other = all.find((one, at) => at !== index && (one === path || path.startsWith(one === "/" ? one : `${one}/`)));
    if (other !== undefined) throw new Error(`watch: ${path} is watched as a part of ${other} already`);
  }
  return all;
}

/** @throws Error: a path is not absolute */
function directoriesOf(name: string, value: string | undefined): string[] | undefined {
  const all = value?.split(":");
  const relative = all?.find((path) => !isAbsolute(path));
  if (relative !== undefined) throw new Error(`${name}: ${relative === "" ? "an empty part" : relative} is not absolute`);
  return all;
}

function capacityOf({ cpus, memory }: Settings): Partial<HostCapacity> {
  if (cpus !== undefined && !(Number(cpus) > 0)) throw new Error(`cpus: ${cpus} is not a number of CPUs`);
  const bytes = sizeOf("memory", memory);
  return { ...(cpus === undefined ? {} : { cpus: Number(cpus) }), ...(bytes === undefined ? {} : { memoryBytes: bytes }) };
}

export function socketsOf({ runDir }: Configuration) {
  return {
    /** Every user of this socket has the rights of root, because tasks can mount any directory. */
    admin: { path: join(runDir, "admin.sock"), mode: 0o600, group: undefined },
    read: { path: join(runDir, "read.sock"), mode: 0o660, group: "runtd-read" },
  } as const;
}

/** @throws Error with what is wrong */
function imageSettingsOf(values: Settings): ImageSettings {
  const maxBytes = sizeOf("image-max-size", values["image-max-size"]);
  const maxFiles = countOf("image-max-files", values["image-max-files"]);
  return {
    pullPolicy: oneOf("pull-policy", values["pull-policy"], PULL_POLICIES),
    pullTimeoutMs: durationOf("pull-timeout", values["pull-timeout"]),
    buildTimeoutMs: durationOf("build-timeout", values["build-timeout"]),
    pullsAtOnce: countOf("pulls-at-once", values["pulls-at-once"]),
    cleanUp: {
      everyMs: durationOf("image-gc-every", values["image-gc-every"]),
      unusedMs: durationOf("image-gc-age", values["image-gc-age"]),
      most: countOf("image-gc-count", values["image-gc-count"]),
      fullPercent: percentOf("image-gc-full", values["image-gc-full"]),
      kept: values["image-gc-keep"],
    },
    credentials: Object.fromEntries((values.credentials ?? []).map(credentialsOf)),
    roots: oneOf("image-roots", values["image-roots"], ["overlay", "copy"]),
    limits: { ...(maxBytes === undefined ? {} : { maxBytes }), ...(maxFiles === undefined ? {} : { maxFiles }) },
  };
}

/** @throws Error: the value is no percentage from 0 to 100 */
function percentOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const [, digits] = /^(\d{1,3})%?$/.exec(value) ?? [];
  if (digits === undefined || Number(digits) > 100) throw new Error(`${name}: ${value} is no percentage`);
  return Number(digits);
}

const CREDENTIALS = /^([A-Za-z0-9][A-Za-z0-9_-]*)=(file|exec):(\/.+)$/;

/** Parses "NAME=file:PATH" or "NAME=exec:PROGRAM". */
function credentialsOf(text: string): [name: string, source: SecretSource] {
  const [, name, kind, path] = CREDENTIALS.exec(text) ?? [];
  if (name === undefined || path === undefined)
    throw new Error(`credentials: ${text} is neither NAME=file:FILE nor NAME=exec:PROGRAM, with an absolute path`);
  return [name, kind === "file" ? { file: path } : { exec: [path] }];
}

/** An id has 32 bits. The last two stand for no id. */
const HIGHEST_ID = 2 ** 32 - 3;
/** Number of ids that one task needs. */
const LEAST = 65_536;

/** undefined: the engine's default. @param value "FIRST:COUNT" @throws Error: it is no such range */
export function userIdsOf(value: string | undefined): UserRange | undefined {
  if (value === undefined) return undefined;
  const [, first, count] = (/^(\d{1,10}):(\d{1,10})$/.exec(value) ?? []).map(Number);
  if (first === undefined || count === undefined) throw new Error(`user-ids: ${value}: write FIRST:COUNT`);
  if (first < LEAST) throw new Error(`user-ids: ids below ${LEAST} are those of the host's own users`);
  if (count < LEAST || first + count - 1 > HIGHEST_ID) throw new Error(`user-ids: ${value}: ${LEAST} ids or more, up to ${HIGHEST_ID}`);
  return { first, count };
}

/** Programs by name. @param values "NAME=FILE" @throws Error: a value is wrong, or a name is given twice */
export function runtimesOf(values: readonly string[] = []): Record<string, string> {
  const pairs = values.map((value): [string, string] => {
    const at = value.indexOf("=");
    const [name, program] = [value.slice(0, Math.max(at, 0)), value.slice(at + 1)];
    if (!RUNTIME_NAME.test(name)) throw new Error(`runtime-class: ${value}: write NAME=FILE with a name like vm`);
    if (!isAbsolute(program)) throw new Error(`runtime-class: ${program} is not absolute`);
    return [name, program];
  });
  const twice = pairs.find(([name], index) => pairs.findIndex(([other]) => other === name) !== index);
  if (twice !== undefined) throw new Error(`runtime-class: ${twice[0]} is there twice`);
  return Object.fromEntries(pairs);
}
