/** The helper's times: memory that it stores into while it executes the plan (src/shared/protocol/page.ts), and the spans they make. */
import { TRACE_ENTRY, TRACE_ENTRY_WORDS, TRACE_HEAD, TRACE_HEAD_WORDS, UNTIMED } from "../../shared/protocol/index.ts";
import { describeOperation, type Op, type Plan } from "../plan/index.ts";
import type { Instant, Span } from "./events.ts";

const HEADER = TRACE_HEAD_WORDS * 8;
const ENTRY = TRACE_ENTRY_WORDS * 8;
/** Clocks further apart than this are those of two time namespaces (microseconds). */
const SAME_CLOCK = 500;

/** Room for the operations of a plan that is not known yet; memory that is not stored into takes none. */
const MOST_OPERATIONS = 65_536;

/** One helper, with the memory of its times. */
export interface Helper {
  /** undefined: it was started early, and has got none (yet). */
  plan: Pick<Plan, "ops"> | undefined;
  readonly page: ArrayBuffer;
  intermediate: number;
  init: number;
}

export function areaSize(plan: Pick<Plan, "ops"> | undefined): number {
  return HEADER + ENTRY * (plan?.ops.length ?? MOST_OPERATIONS);
}

/** To be done before the helper maps it. */
export function prepareArea(page: ArrayBuffer): void {
  new Uint32Array(page)[TRACE_HEAD.count * 2] = (page.byteLength - HEADER) / ENTRY;
}

export function operationArgs(op: Op, index: number): Record<string, unknown> {
  const detail = describeOperation(op);
  return { index, phase: op.phase, ...(detail === "" ? {} : { detail }), ...(op.from === "" ? {} : { from: op.from }) };
}

/**
 * What the intermediate and init did. `ended`: when this call saw what it waited for, at most; an operation under way then goes on to there.
 * Those of init that it has not come to are instants: `create` leaves them to `start`, a failure leaves them undone.
 */
export function helperSpans(helper: Helper, ended: number): { readonly spans: Span[]; readonly instants: Instant[] } {
  const spans: Span[] = [];
  const instants: Instant[] = [];
  const words = new Uint32Array(helper.page);
  // Of a plan with more operations than there is room for, the last have no times.
  const at = (index: number): number => ((words[index * 2] ?? 0) + (words[index * 2 + 1] ?? 0) * 2 ** 32) / 1000;
  const [intermediateBirth, initBirth] = [at(TRACE_HEAD.intermediate), at(TRACE_HEAD.init)];
  if (intermediateBirth === 0) return { spans, instants };
  if (helper.plan === undefined) {
    const args = { state: "ended without a plan" };
    return { spans, instants: [{ name: "helper", category: "helper", thread: helper.intermediate, at: intermediateBirth, args }] };
  }
  const shift =
    initBirth === 0 ? 0 : timeShift(initBirth - at(TRACE_HEAD.initRealtime), intermediateBirth - at(TRACE_HEAD.intermediateRealtime));
  const last = { intermediate: intermediateBirth, init: initBirth - shift };
  helper.plan.ops.forEach((op, index) => {
    const { actor } = op;
    if (actor === "runtime") return;
    const thread = helper[actor];
    const args = operationArgs(op, index);
    const entry = TRACE_HEAD_WORDS + index * TRACE_ENTRY_WORDS;
    const isClone = op.op === "process.clone" && initBirth !== 0;
    const [began, done] = [at(entry + TRACE_ENTRY.begin) || (isClone ? at(TRACE_HEAD.cloned) : 0), at(entry + TRACE_ENTRY.end)];
    if (began === 0) {
      if (actor === "init" && initBirth !== 0)
        instants.push({ name: op.op, category: "operation", thread, at: ended, args: { ...args, state: "not reached" } });
      return;
    }
    const isUntimed = began === UNTIMED / 1000;
    const shifted = actor === "init" ? shift : 0;
    const begin = isUntimed ? last[actor] : began - shifted;
    const isOpen = done === 0 || done === UNTIMED / 1000;
    // init was born within process.clone, which ends with its birth.
    const end = isClone ? initBirth - shift : isOpen ? Math.max(begin, ended) : done - shifted;
    spans.push({
      name: op.op,
      category: "operation",
      thread,
      begin,
      end,
      args: isOpen && !isUntimed ? { ...args, state: "under way" } : args,
    });
    last[actor] = end;
  });
  spans.push(span("intermediate", helper.intermediate, intermediateBirth, last.intermediate));
  if (initBirth !== 0) spans.push(span("init", helper.init, initBirth - shift, last.init));
  return { spans, instants };
}

/** By how much init's CLOCK_MONOTONIC is ahead: each time namespace has its own, and the difference to CLOCK_REALTIME tells. */
function timeShift(init: number, intermediate: number): number {
  const shift = init - intermediate;
  return Math.abs(shift) < SAME_CLOCK ? 0 : shift;
}

function span(name: string, thread: number, begin: number, end: number): Span {
  return { name, category: "helper", thread, begin, end, args: {} };
}
