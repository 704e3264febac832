/** The process that exec is asked to run: the container's own settings with the command line's changes, or a document. */
import { CAPABILITIES } from "../../shared/linux/index.ts";
import { checkPart } from "../check/index.ts";
import {
  type CapabilitySets,
  deriveEnv,
  deriveProcess,
  type NamespaceType,
  NO_CAPABILITIES,
  type ProcessConfig,
  restoreProcess,
  type Warning,
} from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { ProcessRequest } from "../isolation/index.ts";
import { parsePart, type Spec } from "../spec/index.ts";
import type { ExecRecord } from "../state/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import { checkFacts } from "./bundle.ts";

export interface ExecRequest extends ProcessRequest {
  readonly detach: boolean;
  readonly consoleSocket?: string;
  /** "ROWSxCOLUMNS" at the beginning. */
  readonly consoleSize?: string;
  /** FIFO that the later sizes of the terminal are read from, a line `ROWS COLUMNS` each. */
  readonly resizeFifo?: string;
  readonly pidFile?: string;
  /** unix stream socket that receives a pidfd of the process. */
  readonly pidfdSocket?: string;
  readonly cgroups: readonly string[];
  readonly ignorePaused: boolean;
  /** How long it may take until the program runs. */
  readonly timeout?: { readonly milliseconds: number; readonly text: string };
}

/** Adds to `warnings`. @throws RuntError usage, config-syntax, config-schema, config-invalid or not-supported */
export function requestedProcess(request: ExecRequest, defaults: () => ProcessConfig, warnings: Warning[]): ProcessConfig {
  const { processFile } = request;
  const process = processFile === undefined ? changed(defaults(), request) : complete(readProcess(processFile, warnings), defaults());
  return request.processFile === undefined || !request.terminal ? process : { ...process, terminal: true };
}

function readProcess(path: string, warnings: Warning[]): ProcessConfig {
  const spec = readPart(path, "process");
  warnings.push(...checkPart(spec, "process", checkFacts()));
  return deriveProcess(spec.process!, "", (code, pointer, message) => void warnings.push({ code, pointer, message }));
}

/** A document that stands for one field of config.json. @throws RuntError config-read, config-syntax, config-schema */
export function readPart(path: string, part: "process"): Spec {
  let text: string;
  try {
    // Shells hand over a pipe (/dev/fd/N).
    text = host.readFile(path, undefined, true);
  } catch (error) {
    throw new RuntError("config-read", `open ${path}: ${host.reason(error)}`, { cause: error });
  }
  return parsePart(text, host.needsExactParser(text), part, path);
}

/**
 * What a process document leaves out where the container's own process has it, as with runc: above all a document without
 * capabilities gets no more of them than the container has.
 */
function complete(document: ProcessConfig, defaults: ProcessConfig): ProcessConfig {
  const { capabilities, apparmorProfile, selinuxLabel, scheduler, ioPriority, execAffinity, keepGroups } = defaults;
  return {
    ...(capabilities && { capabilities }),
    ...(apparmorProfile !== undefined && { apparmorProfile }),
    ...(selinuxLabel !== undefined && { selinuxLabel }),
    ...(scheduler && { scheduler }),
    ...(ioPriority && { ioPriority }),
    ...(execAffinity && { execAffinity }),
    ...(keepGroups && { keepGroups }),
    ...document,
    rlimits: document.rlimits.length > 0 ? document.rlimits : defaults.rlimits,
  };
}

function changed(defaults: ProcessConfig, request: ExecRequest): ProcessConfig {
  const { args, cwd = defaults.cwd, user, additionalGids } = request;
  if (args.length === 0) throw new RuntError("usage", "process args cannot be empty");
  if (args[0] === "") throw new RuntError("usage", `exec: "": ${WORDS.executableNotFound}`);
  if (!cwd.startsWith("/")) throw new RuntError("usage", `--cwd: "${cwd}" is not an absolute path`);
  if (request.apparmorProfile !== undefined || request.selinuxLabel !== undefined) checkLabels(request);
  const capabilities = withCapabilities(defaults.capabilities, request.capabilities);
  return {
    ...defaults,
    terminal: request.terminal,
    args,
    cwd,
    env: request.env.length === 0 ? defaults.env : deriveEnv([...defaults.env, ...request.env], "", () => {}),
    ...(user === undefined ? {} : parseUser(user, defaults.gid)),
    additionalGids: [...defaults.additionalGids, ...additionalGids.map((text) => parseId(text, "--additional-gids"))],
    noNewPrivileges: request.noNewPrivileges || defaults.noNewPrivileges,
    ...(capabilities && { capabilities }),
    ...(request.apparmorProfile !== undefined && { apparmorProfile: request.apparmorProfile }),
    ...(request.selinuxLabel !== undefined && { selinuxLabel: request.selinuxLabel }),
  };
}

function checkLabels({ args, apparmorProfile, selinuxLabel }: ExecRequest): void {
  const process = { cwd: "/", args: [...args], apparmorProfile, selinuxLabel };
  checkPart({ ociVersion: "", process }, "process", checkFacts());
}

/** Numbers only: names would have to be looked up in a file of the container. The group stays what it is when none is given. */
export function parseUser(text: string, gid: number): { readonly uid: number; readonly gid: number } {
  const colon = text.indexOf(":");
  if (colon === -1) return { uid: parseId(text, "--user"), gid };
  return { uid: parseId(text.slice(0, colon), "--user"), gid: parseId(text.slice(colon + 1), "--user") };
}

/** 2^32 - 1 means "leave it" to setresuid(2) and is no id. */
const HIGHEST_ID = 0xffff_fffe;

function parseId(text: string, flag: string): number {
  const id = /^\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if (defenceDisabled("numeric-user")) return Number.isNaN(id) ? 0 : id;
  if (!(id <= HIGHEST_ID)) throw new RuntError("usage", `${flag}: "${text}" is not a numeric id`);
  return id;
}

/**
 * Never inheritable: a program with file capabilities would get them although it is not meant to (CVE-2022-29162). Ambient needs
 * inheritable, so only what is inheritable already can become ambient.
 */
export function withCapabilities(sets: CapabilitySets | undefined, names: readonly string[]): CapabilitySets | undefined {
  if (names.length === 0) return sets;
  const { bounding, effective, permitted, inheritable, ambient } = sets ?? NO_CAPABILITIES;
  const added = names.reduce((mask, name) => mask | capabilityBit(name), 0n);
  return {
    bounding: bounding | added,
    effective: effective | added,
    permitted: permitted | added,
    inheritable,
    ambient: ambient | (added & inheritable),
  };
}

function capabilityBit(name: string): bigint {
  const upper = name.toUpperCase();
  const index = (CAPABILITIES as readonly string[]).indexOf(upper.startsWith("CAP_") ? upper : `CAP_${upper}`);
  if (index === -1) throw new RuntError("usage", `--cap: unknown capability "${name}"`);
  return 1n << BigInt(index);
}

/**
 * What exec takes over from the container that it enters, by the state record. The settings of the
 * container's own process; plain ones for a container that was made without a process.
 */
export function defaultProcess({ process }: ExecRecord): ProcessConfig {
  if (process) return restoreProcess(process);
  return {
    terminal: false,
    consoleRows: 0,
    consoleColumns: 0,
    args: [],
    env: [],
    cwd: "/",
    uid: 0,
    gid: 0,
    additionalGids: [],
    umask: 0o022,
    noNewPrivileges: false,
    rlimits: [],
  };
}

export function namespaceTypes({ namespaces }: ExecRecord): readonly NamespaceType[] {
  return namespaces as readonly NamespaceType[];
}
