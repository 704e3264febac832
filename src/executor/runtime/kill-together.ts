/** Containers that get the same signal at the same time, as those of one task, get it from one process: starting a process for each takes longer than all else of it. */
import type { Runtime } from "./client.ts";

interface Shared {
  readonly ids: string[];
  readonly done: Promise<void>;
}

/** The command line of one process is bounded. */
const MOST = 64;

/** Not sent yet, by program, state directory and signal. */
const waiting = new Map<string, Shared>();

/** The signal to init of a container. @throws as Runtime.kill; one that has ended, or is not there, may also be no error */
export async function killTogether(runtime: Runtime, id: string, signal: number): Promise<void> {
  const key = JSON.stringify([runtime.binary, runtime.root ?? null, signal]);
  const shared = waiting.get(key);
  if (shared !== undefined) {
    shared.ids.push(id);
    if (shared.ids.length === MOST) waiting.delete(key);
    return shared.done.catch(() => runtime.kill(id, signal));
  }
  const ids = [id];
  const done = new Promise<void>((resolve, reject) => {
    setImmediate(() => {
      if (waiting.get(key)?.ids === ids) waiting.delete(key);
      (ids.length === 1 ? runtime.kill(id, signal) : runtime.killEach(ids, signal)).then(resolve, reject);
    });
  });
  waiting.set(key, { ids, done });
  // Of several it is not known whose failure it was: each asks again alone.
  return done.catch((error) => {
    if (ids.length === 1) throw error;
    return runtime.kill(id, signal);
  });
}
