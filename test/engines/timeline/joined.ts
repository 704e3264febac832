/** The processes of one start and runt's own traces of its calls, in one file for Perfetto or chrome://tracing. Pure. */
import type { Call, Executed } from "./segments.ts";

interface Event {
  readonly pid: number;
  readonly name: string;
  readonly args?: unknown;
}

interface Start {
  readonly begin: number;
  readonly until: number;
  readonly processes: readonly Executed[];
  readonly calls: readonly Call[];
}

/** @param traces of runt (`--trace`), one for each call, in the same clock as the processes */
export function joined({ begin, until, processes, calls }: Start, traces: readonly (string | undefined)[]): string {
  const last = Math.max(until, ...processes.map(({ end }) => end).filter(Number.isFinite));
  const engine = processes.map(({ pid, program, begin: ts, end }) => ({
    name: program.slice(program.lastIndexOf("/") + 1),
    cat: "process",
    ph: "X",
    pid,
    tid: pid,
    ts,
    dur: Math.min(end, last) - ts,
    args: { program },
  }));
  const own = calls.flatMap(({ pid }, index) => {
    const text = traces[index];
    if (text === undefined) return [];
    // In runt's own PID namespace it has another number.
    return (JSON.parse(text) as { traceEvents: Event[] }).traceEvents.map((event) => ({ ...event, pid }));
  });
  const whole = { name: "the start", cat: "start", ph: "X", pid: 0, tid: 0, ts: begin, dur: until - begin, args: {} };
  return `${JSON.stringify({ displayTimeUnit: "ms", traceEvents: [whole, ...engine, ...own] })}\n`;
}
