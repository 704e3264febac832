/** A trace as --trace writes it, and whether its spans lie within each other. */
import { readFileSync } from "node:fs";

export interface TraceEvent {
  readonly name: string;
  readonly cat?: string;
  readonly ph: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur: number;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface TraceFile {
  readonly events: readonly TraceEvent[];
  readonly about: Readonly<Record<string, unknown>>;
}

/** @throws when it is no JSON, or not in the form that the readers want */
export function readTrace(file: string): TraceFile {
  const { traceEvents, otherData, displayTimeUnit } = JSON.parse(readFileSync(file, "utf8"));
  if (displayTimeUnit !== "ns" || !Array.isArray(traceEvents)) throw new Error(`${file}: no trace`);
  for (const event of traceEvents as TraceEvent[]) {
    const isTimed = event.ph === "X" || event.ph === "i";
    const isComplete = Number.isInteger(event.pid) && Number.isInteger(event.tid) && typeof event.args === "object";
    const times = [...(isTimed ? [event.ts] : []), ...(event.ph === "X" ? [event.dur] : [])];
    if (!["X", "M", "i"].includes(event.ph) || !isComplete || times.some((time) => !(time >= 0)))
      throw new Error(`${file}: ${JSON.stringify(event)}`);
  }
  return { events: traceEvents, about: otherData };
}

export const spans = ({ events }: TraceFile, category?: string): TraceEvent[] =>
  events.filter(({ ph, cat }) => ph === "X" && (category === undefined || cat === category));

/** Microseconds that rounding to nanoseconds may have put between two ends that are one. */
const ROUNDING = 0.003;

/** Spans of one thread that overlap without one being within the other. */
export function overlaps(trace: TraceFile): string[] {
  const found: string[] = [];
  for (const thread of new Set(spans(trace).map(({ tid }) => tid))) {
    const open: TraceEvent[] = [];
    for (const span of spans(trace).filter(({ tid }) => tid === thread)) {
      while (open.length > 0 && endOf(open.at(-1)!) <= span.ts + ROUNDING) open.pop();
      const parent = open.at(-1);
      if (parent && endOf(span) > endOf(parent) + ROUNDING) found.push(`${span.name} ends behind ${parent.name}`);
      open.push(span);
    }
  }
  return found;
}

export const endOf = ({ ts, dur }: TraceEvent): number => ts + dur;
