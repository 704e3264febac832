/** One wait for everything: descriptors that something is expected of. */
import * as host from "../../host/index.ts";
import * as kernel from "../kernel.ts";

export interface Watched {
  readonly fd: number;
  /** What is waited for now; 0: nothing, then not even its end is. */
  wants(): number;
  ready(events: number): void;
}

export class Loop {
  readonly #watched = new Set<Watched>();
  /** Milliseconds of the monotonic clock, and what is done then. */
  readonly #alarms = new Map<string, { readonly at: number; readonly ring: () => void }>();
  /** Called after every wait. */
  after: () => void = () => {};

  add(watched: Watched): void {
    this.#watched.add(watched);
  }

  remove(watched: Watched): void {
    this.#watched.delete(watched);
  }

  /** Of each name there is one alarm: the last that was set. undefined takes it back. */
  setAlarm(milliseconds: number | undefined, ring: () => void = () => {}, name = ""): void {
    if (milliseconds === undefined) this.#alarms.delete(name);
    else this.#alarms.set(name, { at: host.monotonic() + milliseconds, ring });
  }

  /** Goes on until the process ends. */
  run(): never {
    for (;;) this.#turn();
  }

  #turn(): void {
    const waiting: Watched[] = [];
    const fds: number[] = [];
    const events: number[] = [];
    for (const watched of this.#watched) {
      const wants = watched.wants();
      if (wants === 0) continue;
      waiting.push(watched);
      fds.push(watched.fd);
      events.push(wants);
    }
    const found = host.poll(fds, events, this.#patience());
    for (let index = 0; index < waiting.length; index++) {
      const watched = waiting[index]!;
      // Whoever came before may have removed it.
      if (found[index] !== 0 && this.#watched.has(watched)) watched.ready(found[index]!);
    }
    this.#ring();
    this.after();
  }

  #patience(): number {
    const next = Math.min(...[...this.#alarms.values()].map(({ at }) => at));
    return next === Number.POSITIVE_INFINITY ? -1 : Math.max(0, next - host.monotonic());
  }

  #ring(): void {
    const now = this.#alarms.size === 0 ? 0 : host.monotonic();
    for (const [name, { at, ring }] of [...this.#alarms]) {
      if (now < at) continue;
      this.#alarms.delete(name);
      ring();
    }
  }
}

/** The ends of this process's children, in a loop, and other signals that come. All have to be blocked. */
export function watchChildren(
  loop: Loop,
  ended: (pid: number, status: number) => void,
  signalled: (number: number) => void = () => {},
): void {
  const signals = kernel.signalDescriptor();
  loop.add({
    fd: signals,
    wants: () => host.POLL.IN,
    ready() {
      for (let number = kernel.nextSignal(signals); number !== 0; number = kernel.nextSignal(signals)) {
        if (number !== host.signalNumber("CHLD")) signalled(number);
      }
      reap(ended);
    },
  });
}

/** Whoever has ended of them. */
export function reap(ended: (pid: number, status: number) => void): void {
  for (let child = host.waitpid(-1, host.WAIT.NOHANG); child; child = host.waitpid(-1, host.WAIT.NOHANG)) {
    ended(child.pid, child.status);
  }
}
