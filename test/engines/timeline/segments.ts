/** What the kernel's trace and the record of calls tell of one start -> its segments: calls of the runtime, and the time between them. Pure. */

/** A process that has executed a program, from then to its end. Times are microseconds of CLOCK_MONOTONIC. */
export interface Executed {
  /** In the kernel's numbering. */
  readonly pid: number;
  readonly program: string;
  readonly begin: number;
  /** Infinity if it outlives the trace. */
  readonly end: number;
}

export interface Call extends Executed {
  /** When it was recorded. */
  readonly at: number;
  readonly words: readonly string[];
}

export interface Segment {
  /** The verb, or "" for what is between two calls. */
  readonly verb: string;
  readonly begin: number;
  readonly end: number;
  /** Base names of the programs that began in it, but for the runtime itself. */
  readonly programs: readonly string[];
}

const EVENT = /^.+?-\d+ +\[\d+\] \S+ +(\d+)\.(\d+): sched_process_(exec|exit): (.*)$/;

/** Lines of the kernel's events sched_process_exec and sched_process_exit, in the order of time. */
export function executed(trace: string): Executed[] {
  const done: Executed[] = [];
  const open = new Map<number, Executed>();
  const close = (pid: number, end: number) => {
    const one = open.get(pid);
    if (one === undefined) return;
    done.push({ ...one, end });
    open.delete(pid);
  };
  for (const line of trace.split("\n")) {
    const [, seconds, fraction, event, rest = ""] = EVENT.exec(line) ?? [];
    if (event === undefined) continue;
    const at = Number(seconds) * 1e6 + Number(fraction);
    const pid = Number(/(?:^| )pid=(\d+)/.exec(rest)?.[1]);
    close(pid, at);
    if (event === "exec")
      open.set(pid, { pid, program: /^filename=(\S*)/.exec(rest)?.[1] ?? "", begin: at, end: Number.POSITIVE_INFINITY });
  }
  return [...done, ...open.values()].sort((a, b) => a.begin - b.begin);
}

/** @param log lines of test/probe/called.c @param path where it stands in for the runtime */
export function callsOf(processes: readonly Executed[], log: string, path: string): Call[] {
  const lines = log
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => line.split(" "))
    .map(([at, ...words]) => ({ at: Number(at), words }));
  return processes.flatMap((stand, index) => {
    if (stand.program !== path) return [];
    // It wrote its line between two executions of the same process.
    const line = lines.find(({ at }) => at >= stand.begin && at <= stand.end);
    const real = processes.find(
      ({ pid, program, begin }, place) => place > index && pid === stand.pid && program === `${path}.real` && begin >= stand.end,
    );
    if (line === undefined || real === undefined) return [];
    // It may execute itself again, as crun and runc do.
    const last = processes.filter(({ pid, begin }) => pid === real.pid && begin >= real.begin).at(-1) ?? real;
    return [{ ...real, ...line, end: last.end }];
  });
}

/** Flags in front of the verb that have a value of their own. */
const VALUED = new Set(["--root", "--log", "--log-format", "--criu", "--trace"]);

export function verbOf(words: readonly string[]): string {
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (!word.startsWith("-")) return word;
    if (VALUED.has(word)) index++;
  }
  return words.at(-1) ?? "";
}

/** From `begin` to `until`: each call that begins there, and what is between. */
export function segments(processes: readonly Executed[], calls: readonly Call[], begin: number, until: number): Segment[] {
  const own = new Set(calls.map(({ pid }) => pid));
  const others = processes.filter(({ pid }) => !own.has(pid));
  const found: Segment[] = [];
  let at = begin;
  const add = (verb: string, end: number) => {
    const programs = others
      .filter((one) => one.begin >= at && one.begin < end)
      .map(({ program }) => program.slice(program.lastIndexOf("/") + 1));
    found.push({ verb, begin: at, end, programs });
    at = end;
  };
  for (const call of calls.filter((one) => one.begin >= begin && one.begin < until)) {
    if (call.begin > at) add("", call.begin);
    if (call.end > at) add(verbOf(call.words), Math.min(call.end, until));
  }
  if (at < until) add("", until);
  return found;
}
