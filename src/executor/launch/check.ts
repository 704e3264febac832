/** What can be known to be wrong before anything is done. */
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { CAPABILITIES } from "../../shared/linux/index.ts";
import { LOG_FILES_MAX, LOG_SIZE_MIN } from "../../shared/protocol/index.ts";
import { ExecutorError } from "../errors.ts";
import { DEFAULT_NAMESPACES, hostCapabilities } from "../profile.ts";
import { checkShape, KIND } from "../shape.ts";
import { processIn, rootfsOf } from "./bundle.ts";
import { isSlice } from "./cgroup-place.ts";
import type { CommandLaunch, ConfigLaunch, LaunchCommand, NamespaceMode, OciObject, ProcessLaunch, Stdio, StdioSet } from "./command.ts";
import { checkResources } from "./resources.ts";
import { checkSize } from "./size.ts";

const ID = /^[A-Za-z0-9_+.-]{1,200}$/;

export function isId(id: string): boolean {
  return ID.test(id) && id !== "." && id !== "..";
}

/** @throws ExecutorError invalid-argument */
export function checkId(id: string): void {
  if (!isId(id)) {
    throw new ExecutorError("invalid-argument", `executor id ${JSON.stringify(id.slice(0, 220))}: use 1 to 200 of A-Z a-z 0-9 _ + - .`);
  }
}

type Refuse = (field: string, reason: string) => never;

/** What only a cgroup can do is refused, and the end of the pid namespace has to end all of the container. Root's containers need a cgroup for the rules of devices. */
function checkWithoutCgroup(command: LaunchCommand, refuse: Refuse): void {
  if (process.geteuid?.() === 0) refuse("cgroupParent", "null is for callers other than root");
  for (const [name, value] of Object.entries(command.resources ?? {}))
    if (value !== undefined && value !== 0) refuse(`resources.${name}`, "needs a cgroup, and cgroupParent is null");
  for (const name of ["blockIO", "deviceRules"] as const)
    if (name in command && (command as CommandLaunch)[name] !== undefined) refuse(name, "needs a cgroup, and cgroupParent is null");
  const mode = command.namespaces?.pid;
  const ofConfig = "config" in command ? namespacesIn(command.config) : undefined;
  const isOwn =
    mode === undefined
      ? (ofConfig ?? [{ type: "pid" }]).some(({ type, path }) => type === "pid" && path === undefined)
      : mode === "private";
  if (!isOwn) refuse("cgroupParent", "null needs a pid namespace of the container's own");
}

function namespacesIn({ linux }: OciObject): readonly OciObject[] {
  const { namespaces } = (linux ?? {}) as OciObject;
  return Array.isArray(namespaces) ? (namespaces as readonly OciObject[]) : [];
}

/** @throws ExecutorError invalid-argument */
export function checkCommand(command: LaunchCommand): void {
  checkOptions(command);
  const refuse: Refuse = (field, reason) => {
    throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
  };
  if ("config" in command && !isAbsolute(command.bundle)) refuse("bundle", `${command.bundle} is not absolute`);
  const rootfs = rootfsOf(command);
  if (!isAbsolute(rootfs)) refuse("rootfs", `${rootfs} is not absolute`);
  if (!statSync(rootfs, { throwIfNoEntry: false })?.isDirectory()) refuse("rootfs", `${rootfs} is not a directory`);
  const process = processIn(command);
  if (process !== undefined) {
    const args = process["args"];
    if (!Array.isArray(args) || args.length === 0) refuse("process.args", "is empty");
  } else if ("cmd" in command) {
    if (command.cmd === "") refuse("cmd", "is empty");
    for (const name of Object.keys(command.env ?? {}))
      if (name === "" || name.includes("=")) refuse("env", `bad name ${JSON.stringify(name)}`);
    for (const text of [command.cmd, ...(command.args ?? []), ...Object.values(command.env ?? {})]) {
      if (text.includes("\0")) refuse("args and env", "hold a NUL");
    }
  }
  const { cgroupParent } = command;
  if (cgroupParent === null) checkWithoutCgroup(command, refuse);
  else if (cgroupParent !== undefined && !isSlice(cgroupParent) && (!isAbsolute(cgroupParent) || cgroupParent.split("/").includes(".."))) {
    refuse("cgroupParent", `${cgroupParent} is neither an absolute path without .. nor a slice of systemd`);
  }
  for (const [type, mode] of Object.entries(command.namespaces ?? {})) checkNamespace(type, mode, refuse);
  const { userNamespace, sandbox } = command;
  if (sandbox !== undefined) checkId(sandbox);
  if (userNamespace !== undefined && !isAbsolute(userNamespace)) refuse("userNamespace", `${userNamespace} is not absolute`);
  checkResources(command.resources ?? {});
  // First unknown names, then those that are newer than this kernel.
  checkCapabilities(command);
  checkCapabilities(command, hostCapabilities());
  if (typeof command.pty === "object") checkSize("pty", command.pty);
  for (const name of ["stdin", "stdout", "stderr"] as const) {
    const stdio = command.stdio?.[name];
    if (stdio !== undefined) checkStdio(name, stdio, refuse);
  }
  if (command.stdio?.log !== undefined) checkLog(command.stdio, refuse);
}

function checkNamespace(type: string, mode: NamespaceMode, refuse: (field: string, reason: string) => never): void {
  const field = `namespaces.${type}`;
  if (!(DEFAULT_NAMESPACES as readonly string[]).includes(type)) refuse(field, `use ${DEFAULT_NAMESPACES.join(", ")}`);
  if (mode === "private" || mode === "host") return;
  if (typeof mode !== "object" || "path" in mode === "executor" in mode)
    refuse(field, `${JSON.stringify(mode)}: use "private", "host", { path } or { executor }`);
  if ("path" in mode && !isAbsolute(mode.path)) refuse(field, `${mode.path} is not absolute`);
  if ("executor" in mode) checkId(mode.executor);
}

function checkStdio(name: string, stdio: Stdio, refuse: (field: string, reason: string) => never): void {
  if (stdio === "null" || stdio === "pipe" || (stdio === "open" && name === "stdin")) return;
  if (typeof stdio !== "object") refuse(`stdio.${name}`, `${JSON.stringify(stdio)}: use "null", "pipe", { file } or { fifo }`);
  const path = "fifo" in stdio ? stdio.fifo : stdio.file;
  if (!isAbsolute(path)) refuse(`stdio.${name}`, `${path} is not absolute`);
  const isFifo = statSync(path, { throwIfNoEntry: false })?.isFIFO() === true;
  if ("fifo" in stdio && !isFifo) refuse(`stdio.${name}`, `${path} is not a FIFO`);
  // This process would wait until another one opens the other end.
  if ("file" in stdio && isFifo) refuse(`stdio.${name}`, `${path} is a FIFO, not a file`);
}

function checkLog({ log, stdout, stderr }: StdioSet, refuse: (field: string, reason: string) => never): void {
  const { path, maxBytes = LOG_SIZE_MIN, files = 1 } = log!;
  if (stdout !== undefined || stderr !== undefined) refuse("stdio.log", "stands in place of stdout and stderr");
  if (!isAbsolute(path)) refuse("stdio.log.path", `${path} is not absolute`);
  if (!Number.isSafeInteger(maxBytes) || maxBytes < LOG_SIZE_MIN) refuse("stdio.log.maxBytes", `${maxBytes}: use ${LOG_SIZE_MIN} or more`);
  if (!Number.isInteger(files) || files < 1 || files > LOG_FILES_MAX) refuse("stdio.log.files", `${files}: use 1 to ${LOG_FILES_MAX}`);
}

type Sets = Readonly<Record<string, unknown>>;

/**
 * The kernel knows capabilities by numbers only, so that a name it has no number for would vanish. Every name in `capabilities`, or in process.capabilities of an OCI process, is one of `allowed`, as it is written there.
 * @throws ExecutorError invalid-argument, which names the word; `details` have `name`, `field` and `allowed`
 */
export function checkCapabilities(command: LaunchCommand, allowed: readonly string[] = CAPABILITIES): void {
  const process = processIn(command);
  const field = process === undefined ? "capabilities" : "process.capabilities";
  const given = process === undefined ? (command as CommandLaunch).capabilities : process["capabilities"];
  if (given === undefined || given === null) return;
  if (Array.isArray(given)) checkNames(field, given, allowed);
  else for (const [set, names] of Object.entries(given as Sets)) checkNames(`${field}.${set}`, names, allowed);
}

function checkNames(field: string, names: unknown, allowed: readonly string[]): void {
  if (names === undefined) return;
  if (!Array.isArray(names)) throw refused(field, names, "is no list of names", allowed);
  for (const name of names) {
    if (typeof name !== "string") throw refused(field, name, "is no name", allowed);
    if (!allowed.includes(name)) throw refused(field, name, reasonOf(name), allowed);
  }
}

function reasonOf(name: string): string {
  const upper = name.toUpperCase();
  const meant = upper.startsWith("CAP_") ? upper : `CAP_${upper}`;
  if (meant !== name && (CAPABILITIES as readonly string[]).includes(meant)) return `is no capability: use ${meant}`;
  return (CAPABILITIES as readonly string[]).includes(name) ? "is no capability of this kernel" : "is no capability";
}

function refused(field: string, name: unknown, reason: string, allowed: readonly string[]): ExecutorError {
  return new ExecutorError("invalid-argument", `${field}: ${JSON.stringify(name)} ${reason}`, { field, name, allowed });
}

/** The options of the three forms of a launch, with the kind of each. */
type Kinds<Launch> = Readonly<Record<keyof Launch, (typeof KIND)[keyof typeof KIND]>>;

const CONFIG = {
  config: KIND.object,
  bundle: KIND.text,
  mounts: KIND.objects,
  namespaces: KIND.object,
  userNamespace: KIND.text,
  sandbox: KIND.text,
  resources: KIND.object,
  stdio: KIND.object,
  pty: KIND.objectOrFlag,
  annotations: KIND.textsByName,
  cgroupParent: { what: "a string or null", is: (value: unknown) => value === null || typeof value === "string" },
} as const satisfies Kinds<ConfigLaunch>;

const { config: _config, bundle: _bundle, ...shared } = CONFIG;

const PROCESS = {
  ...shared,
  process: KIND.object,
  rootfs: KIND.text,
  readonlyRootfs: KIND.flag,
  hostname: KIND.text,
  domainname: KIND.text,
  devices: KIND.objects,
  deviceRules: KIND.objects,
  privileged: KIND.flag,
  unmasked: KIND.flag,
  sharedMemory: KIND.flag,
  blockIO: KIND.object,
  seccomp: KIND.object,
  hooks: KIND.object,
} as const satisfies Kinds<ProcessLaunch>;

const { process: _process, ...common } = PROCESS;

const COMMAND = {
  ...common,
  cmd: KIND.text,
  args: KIND.texts,
  env: KIND.textsByName,
  user: KIND.text,
  additionalGids: KIND.numbers,
  additionalGroups: KIND.texts,
  strictGids: KIND.flag,
  cwd: KIND.text,
  capabilities: KIND.objectOrTexts,
  rlimits: KIND.objects,
  noNewPrivileges: KIND.flag,
  apparmorProfile: KIND.text,
  oomScoreAdj: KIND.number,
} as const satisfies Kinds<CommandLaunch>;

/** @throws ExecutorError invalid-argument, with the name of the option in `details.field` */
export function checkOptions(command: LaunchCommand): void {
  const given = Object(command) as object;
  if ("config" in given) checkShape("launch", command, CONFIG, ["bundle"]);
  else if ("process" in given) checkShape("launch", command, PROCESS, ["rootfs"]);
  else checkShape("launch", command, COMMAND, ["rootfs", "cmd"]);
}
