/**
 * --trace FILE: what this call does and when, as a file for Perfetto or chrome://tracing.
 *
 * The pipeline has three hooks (src/runtime/host/observer.ts). All else is seen by taking the place of the functions of the host module
 * that every module calls: each becomes a span, those that spawn the helper also give it memory for its times, `execHelper` writes the file,
 * for behind it there is nothing more of this program.
 */
import { MESSAGES, monitorArguments } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { observe, type Room } from "../host/index.ts";
import type { Plan } from "../plan/index.ts";
import { type Instant, type Span, traceText } from "./events.ts";
import { areaSize, type Helper, helperSpans, operationArgs, prepareArea } from "./helper.ts";

/** Command lines may be private. */
const MODE = 0o600;
const AREA_NAME = "runt-trace";
/** Longer first arguments are cut. */
const TEXT_MOST = 300;

/** They make no system call, or are what the trace itself is made with. */
const UNSEEN: ReadonlySet<string> = new Set(
  "argv exit getenv utf8Encode utf8Decode needsExactParser findNext sha256 resource strerror errnoName clock usage replaceExports monotonic now".split(
    " ",
  ),
);

type Function = (...args: never[]) => unknown;
type AnyFunction = (...args: unknown[]) => unknown;
type Mark = Pick<Span, "name" | "begin" | "args">;

interface Recording {
  readonly file: string;
  readonly verb: string;
  readonly spans: Omit<Span, "thread">[];
  readonly instants: Omit<Instant, "thread">[];
  readonly helpers: Helper[];
  /** Where the call is. */
  room: Room;
  phase: Mark | undefined;
  operation: Mark | undefined;
  plan: Pick<Plan, "ops"> | undefined;
  /** When the runtime saw that the program of the container runs; 0 = it did not look. */
  executed: number;
}

/** Begin. `parsed`: when the command line had been read. Returns what writes the file, given the status, and returns that. @throws RuntError trace */
export function traceTo(file: string, verb: string, parsed: number): (status: number) => number {
  try {
    host.writeFile(file, "", host.O.WRONLY | host.O.CREAT | host.O.TRUNC, MODE);
  } catch (error) {
    throw new RuntError("trace", `--trace ${file}: ${host.reason(error)}`, { cause: error });
  }
  const { started } = host.usage();
  const recording: Recording = {
    file,
    verb,
    spans: [{ name: "parse", category: "phase", begin: started, end: parsed, args: { room: "cli", includes: "start of the engine" } }],
    instants: [],
    helpers: [],
    room: "trace",
    phase: { name: "trace", begin: parsed, args: { room: "trace" } },
    operation: undefined,
    plan: undefined,
    executed: 0,
  };
  observe({
    phase: (name, room) => beginPhase(recording, name, room),
    operation: (plan, index) => beginOperation(recording, plan as Pick<Plan, "ops">, index),
    reached: (stage) => recording.instants.push({ name: stage, category: "stage", at: host.clock(), args: { room: recording.room } }),
  });
  host.replaceExports((name, original) => replacement(recording, name, original));
  beginPhase(recording, verb, "cli");
  return (status) => {
    write(recording, { status });
    return status;
  };
}

function beginPhase(recording: Recording, name: string, room: Room, now = host.clock()): void {
  endOperation(recording, now);
  if (recording.phase) recording.spans.push({ ...recording.phase, category: "phase", end: now });
  recording.phase = { name, begin: now, args: { room } };
  recording.room = room;
}

function beginOperation(recording: Recording, plan: Pick<Plan, "ops">, index: number): void {
  const now = host.clock();
  endOperation(recording, now);
  recording.plan = plan;
  const op = plan.ops[index];
  if (op) recording.operation = { name: op.op, begin: now, args: { room: recording.room, ...operationArgs(op, index) } };
}

function endOperation(recording: Recording, now: number): void {
  const { operation } = recording;
  if (!operation) return;
  recording.spans.push({ ...operation, category: "operation", end: now });
  recording.operation = undefined;
  if (operation.name === "sync.end") recording.executed = now;
}

function replacement(recording: Recording, name: string, original: Function): Function | undefined {
  if (UNSEEN.has(name)) return undefined;
  const call = original as AnyFunction;
  switch (name) {
    case "execHelper":
      return ((args: string[], inherit: number[]) => execHelper(recording, call, args, inherit)) as Function;
    case "spawnHelper":
    case "spawnHelperEarly":
      return ((...args: unknown[]) => timed(recording, name, (...rest) => spawnHelper(recording, call, rest), args)) as Function;
    case "sendMessage":
      return ((...args: unknown[]) => {
        timed(recording, name, call, args);
        const helper = recording.helpers.at(-1);
        // A helper that was started early gets its plan so. One that does not fit gets none.
        if (args[1] === MESSAGES.plan && helper) helper.plan = recording.plan;
      }) as Function;
    case "receiveMessage":
      return ((...args: unknown[]) => {
        const message = timed(recording, name, call, args) as host.Message | undefined;
        const helper = recording.helpers.at(-1);
        if (message?.type === MESSAGES.pid && helper) helper.init = message.value;
        return message;
      }) as Function;
    default:
      return ((...args: unknown[]) => timed(recording, name, call, args)) as Function;
  }
}

function timed(recording: Recording, name: string, call: AnyFunction, args: readonly unknown[]): unknown {
  const begin = host.clock();
  const shown: Record<string, unknown> = { room: recording.room, ...argsOf(args) };
  try {
    return call(...args);
  } catch (error) {
    shown["error"] = host.reason(error as host.HostError);
    throw error;
  } finally {
    recording.spans.push({ name, category: "call", begin, end: host.clock(), args: shown });
  }
}

/** The path, the descriptor or the process of a call. Written and sent data are never recorded. */
function argsOf([first]: readonly unknown[]): Record<string, unknown> {
  if (typeof first === "string") return { of: first.length > TEXT_MOST ? `${first.slice(0, TEXT_MOST)}...` : first };
  return typeof first === "number" ? { of: first } : {};
}

/** The descriptor of its times is the last argument; where there is no descriptor for the progress, something has to stand for it. */
function spawnHelper(recording: Recording, call: AnyFunction, [args, inherit, ...rest]: unknown[]): unknown {
  const { plan } = recording;
  const { fd, page } = host.sharedPage(AREA_NAME, areaSize(plan));
  prepareArea(page);
  const own = args as string[];
  const helper: Helper = { plan, page, intermediate: 0, init: 0 };
  recording.helpers.push(helper);
  const pid = call([...own, ...(own.length < 4 ? ["-1"] : []), String(fd)], [...(inherit as number[]), fd], ...rest) as number;
  helper.intermediate = pid;
  host.close(fd);
  return pid;
}

/** The monitor takes the place of this process, and writes its part itself. */
function execHelper(recording: Recording, call: AnyFunction, args: string[], inherit: number[]): unknown {
  write(recording, {});
  if (args[0] !== "monitor") return call(args, inherit);
  const fd = opened(recording.file);
  if (fd === undefined) return call(args, inherit);
  // Its options come first.
  const traced = monitorArguments({ trace: fd }, args.slice(1), []).slice(0, -1);
  return call(traced, [...inherit, fd]);
}

function opened(file: string): number | undefined {
  try {
    return host.open(file, host.O.RDWR);
  } catch {
    return undefined;
  }
}

function write(recording: Recording, result: Readonly<Record<string, unknown>>): void {
  const { file } = recording;
  try {
    host.writeFile(file, textOf(recording, result), host.O.WRONLY | host.O.CREAT | host.O.TRUNC, MODE);
  } catch (error) {
    // What the call has done stays done.
    host.write(2, `runt: --trace ${file}: ${host.reason(error as host.HostError)}\n`);
  }
}

function textOf(recording: Recording, result: Readonly<Record<string, unknown>>): string {
  const { heap, started } = host.usage();
  const parent = parseTraceParent(host.getenv("TRACEPARENT"));
  const now = host.clock();
  beginPhase(recording, "end", "trace", now);
  const calls = [...recording.spans];
  const pid = host.getpid();
  const ids = parent ? { traceId: parent.traceId, parentId: parent.parentId } : {};
  const root: Span = {
    name: `runt ${recording.verb}`,
    category: "verb",
    thread: pid,
    begin: started,
    end: now,
    args: { ...ids, ...result, heap },
  };
  const threads = new Map([[pid, "runtime"]]);
  const spans: Span[] = [root, ...calls.map((span) => ({ ...span, thread: pid }))];
  const instants: Instant[] = recording.instants.map((instant) => ({ ...instant, thread: pid }));
  for (const helper of recording.helpers) {
    const found = helperSpans(helper, recording.executed === 0 ? now : recording.executed);
    if (found.spans.length > 0) threads.set(helper.intermediate, "intermediate");
    else if (found.instants.length > 0) threads.set(helper.intermediate, "early helper");
    if (helper.init !== 0 && helper.plan) threads.set(helper.init, "init");
    spans.push(...found.spans);
    instants.push(...found.instants);
  }
  const about = {
    version: host.build.version,
    commit: host.build.commit,
    clock: "CLOCK_MONOTONIC",
    ...(parent && { ...ids, traceFlags: parent.flags }),
  };
  return traceText({ process: pid, name: `runt ${recording.verb}`, threads, spans, instants, about });
}

/** The environment's TRACEPARENT: the trace that this call is a part of (W3C Trace Context, level 1, section 3.2). Pure. */

interface TraceParent {
  readonly traceId: string;
  readonly parentId: string;
  /** Bit 0: the caller records too. */
  readonly flags: number;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** undefined for what is no valid value, which is to be ignored. Later versions may have more fields behind. */
export function parseTraceParent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId = "", parentId = "", flags = "", rest] = FORM.exec(text ?? "") ?? [];
  if (version === undefined || version === "ff" || (version === "00" && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(parentId)) return undefined;
  return { traceId, parentId, flags: Number.parseInt(flags, 16) };
}
