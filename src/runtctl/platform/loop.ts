/** One poll(2) for everything that the program waits for. */
import { monotonic, poll, runJobs } from "runt:client";
import type { End } from "./contract.ts";

/** Bits of poll(2). */
export const POLL = { in: 1, out: 4, error: 8, closed: 32 } as const;

/** Maximum timeout of poll(2), in milliseconds. */
const LONGEST_MS = 0x7fff_ffff;

interface Wait {
  readonly fd: number;
  readonly events: number;
  /** Time of the monotonic clock at which the wait ends. */
  readonly at: number;
  readonly done: (events: number) => void;
}

const waits = new Set<Wait>();

class Moment implements End {
  readonly at: number;

  constructor(at: number) {
    this.at = at;
  }

  get aborted(): boolean {
    return monotonic() >= this.at;
  }
}

export function endIn(milliseconds: number): End {
  return new Moment(monotonic() + milliseconds);
}

/** Waits for events of a descriptor, and returns them. 0: `milliseconds` are over, or `end` has come. */
export function until(fd: number, events: number, milliseconds = Number.POSITIVE_INFINITY, end?: End): Promise<number> {
  const at = Math.min(monotonic() + milliseconds, (end as Moment | undefined)?.at ?? Number.POSITIVE_INFINITY);
  return new Promise((done) => waits.add({ fd, events, at, done }));
}

/** Must be called when a descriptor is closed, because another one may get its number. Waits for it end with POLL.closed. */
export function forget(fd: number): void {
  for (const wait of [...waits]) {
    if (wait.fd !== fd) continue;
    waits.delete(wait);
    wait.done(POLL.closed);
  }
}

/** Returns early when `end` has come. */
export async function sleep(milliseconds: number, end?: End): Promise<void> {
  // poll(2) ignores a negative descriptor.
  await until(-1, 0, milliseconds, end);
}

let prepare = () => {};

/** Called before every wait. */
export function beforeWaits(prepared: () => void): void {
  prepare = prepared;
}

/** Runs the event loop until the process ends. */
export function run(): never {
  for (;;) {
    runJobs();
    prepare();
    turn();
  }
}

function turn(): void {
  if (waits.size === 0) throw new Error("the program waits for what never comes");
  const now = [...waits];
  const next = Math.min(...now.map(({ at }) => at));
  const patience = next === Number.POSITIVE_INFINITY ? -1 : Math.min(LONGEST_MS, Math.max(0, next - monotonic()));
  const found = poll(
    now.map(({ fd }) => fd),
    now.map(({ events }) => events),
    patience,
  );
  const after = monotonic();
  for (const [index, wait] of now.entries()) {
    if (found[index] === 0 && after < wait.at) continue;
    // An earlier callback may have closed the descriptor.
    if (!waits.delete(wait)) continue;
    wait.done(found[index]!);
  }
}
