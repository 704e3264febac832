/** What a pool is made of, and what its boxes are asked to run. */
import { isAbsolute } from "node:path";
import { ExecutorError } from "../errors.ts";
import type { LaunchCommand, Resources } from "../launch/command.ts";
import { checkResources } from "../launch/resources.ts";
import { checkShape, KIND } from "../shape.ts";
import { checkHost } from "./outbound/host.ts";
import { type Outbound, outboundOf } from "./outbound/network.ts";

/** What each container is, and what is not asked of a single run; sandbox() makes one. */
export interface PoolTemplate {
  /** Without stdio and pty, which are the pool's. The command is what a box runs that is given none. */
  readonly launch: LaunchCommand;
  /** Default of each box; 0: none. */
  readonly deadlineMs?: number;
  /** Most bytes of stdout and of stderr that run() takes; then the box is ended. Default: 1 MiB. */
  readonly outputBytes?: number;
  /** Each box can begin connections to other hosts; see SandboxOptions.network. Needs a template as sandbox() makes it. */
  readonly outbound?: Outbound;
}

export interface PoolOptions {
  readonly template: PoolTemplate;
  /** Containers that are kept ready, 1 to 10000. */
  readonly size: number;
  /** Absolute directory of this pool alone; made if absent. One process has it at a time. */
  readonly stateDir: string;
  /** Boxes at the same time; default: 100. Who comes then waits. */
  readonly maxTaken?: number;
  /** Callers that wait; default: 1000. Who comes then gets the error `busy`. */
  readonly maxWaiting?: number;
  /** Containers made a second at most, default 200, and at the same time, default 2. */
  readonly refillsPerSecond?: number;
  readonly refillsAtOnce?: number;
  /** Told when containers cannot be made, each time that one could not, and when they can be again. */
  readonly onEvent?: (event: PoolEvent) => void;
  /** Program of the runtime; default: see Runtime. */
  readonly binary?: string;
}

const POOL = {
  template: KIND.object,
  size: KIND.number,
  stateDir: KIND.text,
  maxTaken: KIND.number,
  maxWaiting: KIND.number,
  refillsPerSecond: KIND.number,
  refillsAtOnce: KIND.number,
  onEvent: KIND.call,
  binary: KIND.text,
} as const satisfies Readonly<Record<keyof PoolOptions, unknown>>;

const TEMPLATE = {
  launch: KIND.object,
  deadlineMs: KIND.number,
  outputBytes: KIND.number,
  outbound: KIND.object,
} as const satisfies Readonly<Record<keyof PoolTemplate, unknown>>;

/** Why containers cannot be made. */
export interface PoolFailure {
  /** Of the ExecutorError or RuntimeError; of another error its own, such as ENOENT. */
  readonly code: string;
  readonly message: string;
  /** In a row. */
  readonly times: number;
  /** When the last one could not be, in milliseconds since the epoch. */
  readonly lastMs: number;
}

export type PoolEvent = { readonly type: "failing"; readonly failure: PoolFailure } | { readonly type: "recovered" };

export interface PoolStats {
  readonly size: number;
  /** Ready; being made; running; callers that wait. */
  readonly parked: number;
  readonly making: number;
  readonly taken: number;
  readonly waiting: number;
  /**
   * Since the pool was opened: boxes that were given out, callers that have had to wait, containers made, and those that could not be; parked ones that were found, and removed
   * as no good.
   */
  readonly takes: number;
  readonly waits: number;
  readonly refills: number;
  readonly failures: number;
  readonly adopted: number;
  readonly discarded: number;
  /** Boxes whose network has ended before them; only of a template with one. */
  readonly networksLost?: number;
  /** undefined: the last container could be made. */
  readonly failing: PoolFailure | undefined;
}

/** A file that is made in the box before its program runs, as the program's user. */
export type BoxFile = string | Uint8Array | { readonly content: string | Uint8Array; readonly mode?: number };

export interface TakeRequest {
  /** Default: the command of the template, with its args. */
  readonly cmd?: string;
  readonly args?: readonly string[];
  /** Beside those of the template, whose values they replace. */
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Whole, unless `openStdin` is set; default: empty. */
  readonly stdin?: string | Uint8Array;
  /** The input goes on after `stdin`: the caller writes to `box.stdin`, and ends it. */
  readonly openStdin?: boolean;
  /** By absolute path in the box. */
  readonly files?: Readonly<Record<string, BoxFile>>;
  /** Tighter than the template's. This one makes a process of the host (`runt update`). */
  readonly resources?: Resources;
  /** Milliseconds from the start of the program until all is killed; default: the template's. */
  readonly deadlineMs?: number;
  /** Ends the wait for a box, and the box. */
  readonly signal?: AbortSignal;
}

const TAKE = {
  cmd: KIND.text,
  args: KIND.texts,
  env: KIND.textsByName,
  cwd: KIND.text,
  stdin: { what: "a string or bytes", is: isContent },
  openStdin: KIND.flag,
  files: KIND.object,
  resources: KIND.object,
  deadlineMs: KIND.number,
  signal: KIND.object,
} as const satisfies Readonly<Record<keyof TakeRequest, unknown>>;

function isContent(value: unknown): boolean {
  return typeof value === "string" || value instanceof Uint8Array;
}

/** @throws ExecutorError invalid-argument */
export function checkPool(options: PoolOptions): void {
  checkShape("pool", options, POOL, ["template", "size", "stateDir"]);
  const { template, size, stateDir, maxTaken = 1, maxWaiting = 0, refillsPerSecond = 1, refillsAtOnce = 1 } = options;
  checkShape("template", template, TEMPLATE, ["launch"]);
  if (!isAbsolute(stateDir)) refuse("stateDir", `${stateDir} is not absolute`);
  inRange("size", size, 1, 10_000);
  inRange("maxTaken", maxTaken, 1, 100_000);
  inRange("maxWaiting", maxWaiting, 0, 1_000_000);
  inRange("refillsPerSecond", refillsPerSecond, 1, 10_000);
  inRange("refillsAtOnce", refillsAtOnce, 1, 64);
  inRange("template.deadlineMs", template.deadlineMs ?? 0, 0, LONGEST_MS);
  inRange("template.outputBytes", template.outputBytes ?? 1, 1, 2 ** 30);
  const { stdio, pty } = template.launch;
  if (stdio !== undefined || pty) refuse("template.launch", "stdio and pty are the pool's");
  if (template.outbound === undefined) return;
  outboundOf({ outbound: template.outbound }, "template.outbound");
  checkHost(template.launch);
}

/** setTimeout(3) of Node takes no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** @throws ExecutorError invalid-argument */
export function checkTake(request: TakeRequest, { resources: limits = {}, cgroupParent }: LaunchCommand): void {
  checkShape("take", request, TAKE);
  const { cmd, args, cwd, env = {}, files = {}, resources = {}, deadlineMs = 0 } = request;
  if (cmd === "") refuse("cmd", "is empty");
  if (cmd === undefined && args !== undefined) refuse("args", "needs cmd");
  if (cwd !== undefined && !isAbsolute(cwd)) refuse("cwd", `${cwd} is not absolute`);
  for (const name of Object.keys(env)) if (name === "" || name.includes("=")) refuse("env", `bad name ${JSON.stringify(name)}`);
  for (const [path, file] of Object.entries(files)) {
    if (!isAbsolute(path)) refuse("files", `${path} is not absolute`);
    const { content, mode = 0o644 } = isContent(file) ? { content: file } : (file as { content: unknown; mode?: number });
    if (!isContent(content)) refuse("files", `${path}: a string, bytes or { content, mode }`);
    inRange(`files: mode of ${path}`, mode, 0, 0o7777);
  }
  inRange("deadlineMs", deadlineMs, 0, LONGEST_MS);
  checkResources(resources);
  for (const name of ["memoryBytes", "memorySwapBytes", "cpus", "pids"] as const) {
    const [asked, most] = [resources[name], limits[name]];
    if (asked === undefined || !most) continue;
    if (asked <= 0 || asked > most) refuse(`resources.${name}`, `${asked}: a box can only have less than its template, ${most}`);
  }
  for (const name of Object.keys(resources)) {
    if (cgroupParent === null) refuse(`resources.${name}`, "needs a cgroup, and the template has none");
    if (!["memoryBytes", "memorySwapBytes", "cpus", "pids"].includes(name)) refuse("resources", `${name} cannot be tightened in a box`);
  }
}

function inRange(field: string, value: number, least: number, most: number): void {
  if (!Number.isInteger(value) || value < least || value > most) refuse(field, `${value}: use ${least} to ${most}`);
}

function refuse(field: string, reason: string): never {
  throw new ExecutorError("invalid-argument", `${field}: ${reason}`, { field });
}
