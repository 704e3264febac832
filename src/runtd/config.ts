/** Configuration of the daemon, from its command line. */
import { isAbsolute, join } from "node:path";
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
import { INTERLINK_OPTIONS, type InterlinkConfiguration, interlinkSettingsOf } from "./interlink/config.ts";
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
}

export const USAGE = `Usage: runtd [--once -f FILE [-g GROUP]]
             [--state-dir DIR] [--run-dir DIR] [--cgroup-parent PATH] [--cgroup-manager WHO] [--runtime FILE]
             [--runtime-class NAME=FILE]... [--user-ids FIRST:COUNT] [--no-task-limits] [--launch-timeout DURATION] [--cpus N] [--memory SIZE] [--queue ORDER] [--too-large WHAT]
             [--orphans WHAT] [--moved]
             [--port-taken WHAT] [--cdi-path DIRS] [--cni-path DIRS] [--resolver PATH] [--network-timeout DURATION] [--network-check DURATION]
             [--volume-check DURATION] [--journal-socket PATH]
             [--interlink [--interlink-host-path DIR ...] [--interlink-network WHAT]
                          [--interlink-listen ADDRESS:PORT --interlink-token FILE [--interlink-host NAME ...]]]
             [--pull-policy POLICY] [--pull-timeout DURATION] [--build-timeout DURATION] [--pulls-at-once N] [--image-max-size SIZE] [--image-max-files N] [--image-roots WHAT]
             [--image-gc-every DURATION] [--image-gc-age DURATION] [--image-gc-count N] [--image-gc-full PERCENT] [--image-gc-keep REFERENCE]...
             [--pull-upfront] [--credentials NAME=file:FILE|NAME=exec:PROGRAM]...
       runtd migrate --to VERSION [--state-dir DIR]

  --once -f FILE        run the tasks of a file (- is the standard input) until they end, without sockets. runtd ends with the exit status of the
                        essential container. -g names the group of the tasks. Without --state-dir, the state is in a temporary directory
  --state-dir DIR       directory of the store, the containers and the logs; default /var/lib/runtd
  --run-dir DIR         directory of admin.sock and read.sock; default /run/runtd
  --cgroup-parent PATH  cgroup of all tasks; default /runtd
  --cgroup-manager WHO  program that makes the cgroups of new tasks. cgroupfs (default): runtd itself. systemd: each task is a slice with the task's
                        limits, and its containers are scopes in the slice; cgroup v2 only
  --no-task-limits      make no cgroups for new tasks, and refuse a task with limits
  --runtime FILE        the program runt; default: runt of the package, else RUNT_BINARY, else runt in PATH
  --runtime-class NAME=FILE
                        another program runt, for tasks with this \`runtime\` and pods with this \`runtimeClassName\`. A program whose name ends with
                        runt-vm makes virtual machines. May be repeated with another name
  --user-ids FIRST:COUNT
                        ids of this host for tasks with \`privateUsers\` and pods with \`hostUsers: false\`; each gets 65536; default 1879048192:268435456
  --launch-timeout DURATION
                        maximum time to create a container and run its hooks; default 2m
  --cpus N, --memory SIZE
                        maximum that all tasks together may ask for; default: capacity of the host
  --queue ORDER         order of tasks that wait for capacity. fifo (default); backfill: up to 16 small tasks may start before a large one within 60 s
  --too-large WHAT      for a task that needs more than the host has: wait (default), or refuse
  --orphans WHAT        for running containers that are not in the store, for example after you restored a backup of it: show (default), list them in
                        runtctl get as ORPHAN; adopt, take over their tasks; stop, stop them and remove their whole tasks
  --moved               give this once after you have moved or copied the state directory. If the original still exists, the copy gets a new
                        identity, and its tasks are stopped, because the running containers belong to the original
  --port-taken WHAT     for a task that needs a host port which another task has: wait (default), or refuse
  --cdi-path DIRS       directories of CDI specifications, separated by colons; a later one takes precedence; default /etc/cdi:/var/run/cdi
  --cni-path DIRS       directories of CNI plugins, separated by colons; default /opt/cni/bin:/usr/lib/cni:/usr/libexec/cni
  --resolver PATH       the program aardvark-dns, the DNS server for the names in the networks of tasks; default /usr/lib/podman/aardvark-dns,
                        else /usr/libexec/podman/aardvark-dns
  --network-timeout DURATION
                        maximum time of one call of a network plugin; default 30s
  --network-check DURATION
                        interval between two checks of the tasks' networks; default 1m
  --volume-check DURATION
                        interval between two measurements of scratch volumes with a size; default 10s
  --journal-socket PATH
                        stream socket of systemd's journal, for logs with the driver journald; default /run/systemd/journal/stdout
  --interlink           accept pods of a cluster through interLink's plug-in API, on interlink.sock in the directory of the sockets
  --interlink-host-path DIR
                        such pods may mount host directories below DIR; may be repeated; default: none
  --interlink-network WHAT
                        bridge (default): such pods get a bridge network of the host; none: loopback only
  --interlink-listen ADDRESS:PORT
                        listen here instead of on the socket. --interlink-token FILE has the token that requests must carry. --interlink-host NAME
                        is another host name that requests may use; may be repeated
  --to VERSION          for migrate: convert the store to the schema of another version of runtd, older or newer. The daemon must not run.
                        migrate keeps the previous store in a file, and prints its name
  --pull-policy POLICY  for containers without a pull policy: default, always, once, prefer-cached or never
  --pull-timeout DURATION
                        maximum time to pull an image; default 10m
  --build-timeout DURATION
                        maximum time to build an image; default 1h
  --pulls-at-once N     maximum number of pulls at the same time; default 3
  --pull-upfront        pull all images of a task as soon as it is admitted, before its containers wait for anything
  --credentials NAME=file:FILE, --credentials NAME=exec:PROGRAM
                        registry credentials: a file as in containers-auth.json(5), or a program that prints one. A container names them as
                        pullCredentials; the name default is for all others. May be repeated with another name
  --image-max-size SIZE, --image-max-files N
                        maximum size and number of files of an unpacked image; default 32Gi and 1000000
  --image-roots WHAT    root file systems of images: overlay, or copy; default: overlay if the state directory supports it
  --image-gc-every DURATION
                        interval between two removals of unused images; default 30m. 0s: never; --pull-policy prefer-cached also means never
  --image-gc-age DURATION, --image-gc-count N
                        remove images that were not used for this long, at most N at once; default 24h and 5
  --image-gc-full PERCENT
                        if this much of the file system of the images is in use, remove images of any age; default 90
  --image-gc-keep REFERENCE
                        never remove this image; may be repeated
  --help                print this text
`;

export const STATE_DIR = "/var/lib/runtd";

/** undefined: the user asked for the usage text. @throws Error: the arguments are wrong */
export function configurationOf(args: readonly string[]): Configuration | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      once: { type: "boolean", default: false },
      file: { type: "string", short: "f" },
      group: { type: "string", short: "g", default: "default" },
      "state-dir": { type: "string" },
      "run-dir": { type: "string", default: "/run/runtd" },
      "cgroup-parent": { type: "string", default: "/runtd" },
      "cgroup-manager": { type: "string" },
      "no-task-limits": { type: "boolean", default: false },
      runtime: { type: "string" },
      "runtime-class": { type: "string", multiple: true },
      "user-ids": { type: "string" },
      "launch-timeout": { type: "string" },
      cpus: { type: "string" },
      memory: { type: "string" },
      queue: { type: "string" },
      "too-large": { type: "string" },
      orphans: { type: "string" },
      moved: { type: "boolean", default: false },
      "port-taken": { type: "string" },
      "cdi-path": { type: "string" },
      "cni-path": { type: "string" },
      resolver: { type: "string" },
      "network-timeout": { type: "string" },
      "network-check": { type: "string" },
      "volume-check": { type: "string" },
      "journal-socket": { type: "string" },
      ...IMAGE_OPTIONS,
      ...INTERLINK_OPTIONS,
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const paths = {
    stateDir: values["state-dir"] ?? STATE_DIR,
    runDir: values["run-dir"],
    cgroupParent: values["cgroup-parent"],
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
  if (values.once !== (values.file !== undefined)) throw new Error("--once and -f FILE belong together");
  const interlink = interlinkSettingsOf(values);
  if (values.once && interlink !== undefined) throw new Error("--once has no sockets, and --interlink is one");
  const { runDir, ...enginePaths } = paths;
  return {
    engine: {
      ...enginePaths,
      orphans: orphans ?? "show",
      moved: values.moved,
      cgroupManager: oneOf("cgroup-manager", values["cgroup-manager"], ["cgroupfs", "systemd"]),
      runtimes: runtimesOf(values["runtime-class"]),
      userIds: userIdsOf(values["user-ids"]),
      taskLimits: !values["no-task-limits"],
      launchTimeoutMs: durationOf("launch-timeout", values["launch-timeout"]),
      capacity: capacityOf(values),
      images: imageSettingsOf(values),
      options: { pullUpfront: values["pull-upfront"] },
      queue: {
        ...(order === undefined ? {} : { order }),
        ...(tooLarge === undefined ? {} : { tooLarge }),
        ...(portTaken === undefined ? {} : { portTaken }),
      },
      cdiPath: directoriesOf("cdi-path", values["cdi-path"]),
      cniPath: directoriesOf("cni-path", values["cni-path"]),
      networkTimeoutMs: durationOf("network-timeout", values["network-timeout"]),
      networkCheckMs: durationOf("network-check", values["network-check"]),
      volumeCheckMs: durationOf("volume-check", values["volume-check"]),
    },
    runDir,
    isStateDirGiven: values["state-dir"] !== undefined,
    once: values.file === undefined ? undefined : { file: values.file, group: values.group },
    interlink,
  };
}

/** @throws Error: a path is not absolute */
function directoriesOf(name: string, value: string | undefined): string[] | undefined {
  const all = value?.split(":");
  const relative = all?.find((path) => !isAbsolute(path));
  if (relative !== undefined) throw new Error(`${name}: ${relative === "" ? "an empty part" : relative} is not absolute`);
  return all;
}

function capacityOf({ cpus, memory }: { readonly cpus?: string; readonly memory?: string }): Partial<HostCapacity> {
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

/** Command line options about images. */

/** Definitions for parseArgs of node:util. */
const IMAGE_OPTIONS = {
  "pull-policy": { type: "string" },
  "pull-timeout": { type: "string" },
  "build-timeout": { type: "string" },
  "pulls-at-once": { type: "string" },
  "image-max-size": { type: "string" },
  "image-max-files": { type: "string" },
  "image-roots": { type: "string" },
  "image-gc-every": { type: "string" },
  "image-gc-age": { type: "string" },
  "image-gc-count": { type: "string" },
  "image-gc-full": { type: "string" },
  "image-gc-keep": { type: "string", multiple: true },
  "pull-upfront": { type: "boolean", default: false },
  credentials: { type: "string", multiple: true },
} as const;

type Values = {
  readonly [Name in keyof typeof IMAGE_OPTIONS]?: (typeof IMAGE_OPTIONS)[Name] extends { multiple: true }
    ? string[]
    : (typeof IMAGE_OPTIONS)[Name] extends { type: "boolean" }
      ? boolean
      : string;
};

/** @throws Error with what is wrong */
function imageSettingsOf(values: Values): ImageSettings {
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
