/**
 * What was measured -> a file in Chrome's Trace Event Format, the form with an object at the top, which Perfetto and chrome://tracing read.
 * Pure. Times are microseconds of CLOCK_MONOTONIC.
 */

/** Something that took time; those of one thread lie within each other or side by side. */
export interface Span {
  readonly name: string;
  readonly category: "verb" | "phase" | "operation" | "call" | "helper";
  readonly thread: number;
  readonly begin: number;
  readonly end: number;
  readonly args: Readonly<Record<string, unknown>>;
}

/** A stage that the pipeline has come to, an operation that this call has not come to, or a helper that got no plan. */
export interface Instant {
  readonly name: string;
  readonly category: "stage" | "operation" | "helper";
  readonly thread: number;
  readonly at: number;
  readonly args: Readonly<Record<string, unknown>>;
}

export interface Trace {
  /** The runtime, which is the process of everything. */
  readonly process: number;
  /** Of the process. */
  readonly name: string;
  /** Thread -> name, in the order to show them in. */
  readonly threads: ReadonlyMap<number, string>;
  readonly spans: readonly Span[];
  readonly instants: readonly Instant[];
  /** What is true of the whole file. */
  readonly about: Readonly<Record<string, unknown>>;
}

/** Ends with "\n]}\n", in front of which the monitor appends what it does (native-bindings/init/trace.c). */
export function traceText({ process: pid, name, threads, spans, instants, about }: Trace): string {
  const named = [...threads].flatMap(([tid, thread], index) => [
    { name: "thread_name", ph: "M", pid, tid, args: { name: thread } },
    { name: "thread_sort_index", ph: "M", pid, tid, args: { sort_index: index } },
  ]);
  const events = [
    { name: "process_name", ph: "M", pid, tid: pid, args: { name } },
    ...named,
    // Outer ones first: readers take the order for the nesting where times are equal.
    ...[...spans]
      .sort((a, b) => a.begin - b.begin || b.end - a.end)
      .map(({ name: what, category, thread, begin, end, args }) => {
        const ts = rounded(begin);
        return { name: what, cat: category, ph: "X", pid, tid: thread, ts, dur: rounded(rounded(end) - ts), args };
      }),
    ...instants.map(({ name: what, category, thread, at, args }) => ({
      name: what,
      cat: category,
      ph: "i",
      s: "t",
      pid,
      tid: thread,
      ts: rounded(at),
      args,
    })),
  ];
  return `{"displayTimeUnit":"ns","otherData":${JSON.stringify(about)},"traceEvents":[\n${events.map((event) => JSON.stringify(event)).join(",\n")}\n]}\n`;
}

/** To nanoseconds. */
function rounded(microseconds: number): number {
  return Math.round(microseconds * 1000) / 1000;
}
