/** The end of an executor: the signal, then after the grace SIGKILL for everything. */
import { setTimeout as sleep } from "node:timers/promises";
import { ExecutorError, LOST_STATE } from "./errors.ts";
import type { OwnCgroup } from "./own-cgroup.ts";
import { KILL_BOUND_MS } from "./process/end-cgroup.ts";
import type { Runtime } from "./runtime/client.ts";
import { signalNumber } from "./signals.ts";
import type { ProcessState, ShutdownPlan } from "./types.ts";

const DEFAULT_GRACE_MS = 5_000;
const DEFAULT_SIGNAL = "SIGINT";
/** Without a pid namespace of its own a container has ended when all its processes have, which the runtime waits for: not in a row with those of others. */
const SIGKILL = signalNumber("SIGKILL");

export interface CheckedPlan {
  readonly signal: number;
  readonly graceMs: number;
}

/** @throws ExecutorError invalid-argument */
export function checkPlan({ signal = DEFAULT_SIGNAL, graceMs = DEFAULT_GRACE_MS }: ShutdownPlan): CheckedPlan {
  const number = signalNumber(signal);
  if (!(graceMs >= 0)) throw new ExecutorError("invalid-argument", `graceMs ${graceMs} is no time`, { field: "graceMs" });
  return { signal: number, graceMs };
}

export interface Ending {
  readonly runtime: Runtime;
  readonly id: string;
  /** For a container that the runtime does not know any longer; undefined: where it is is not known. */
  readonly cgroup?: OwnCgroup | undefined;
  /** Whether the runtime's state of it is lost. */
  readonly isLost: () => boolean;
  readonly wait: () => Promise<ProcessState>;
  readonly enter: (state: "terminating" | "killing" | "stuck") => void;
}

/** Returns what has ended it. @throws ExecutorError stuck */
export async function shutDown(
  { runtime, id, cgroup, isLost, wait, enter }: Ending,
  { signal, graceMs }: CheckedPlan,
): Promise<"signal" | "kill"> {
  if (graceMs > 0) {
    enter("terminating");
    await tolerant(signal === SIGKILL ? runtime.kill(id, signal) : killTogether(runtime, id, signal));
    if (isLost()) cgroup?.signal(signal);
    if (await endsWithin(wait, graceMs)) return "signal";
  }
  enter("killing");
  await tolerant(runtime.kill(id, SIGKILL, { all: true }));
  if (isLost()) await cgroup?.end();
  if (await endsWithin(wait, KILL_BOUND_MS)) return "kill";
  enter("stuck");
  const pids = await runtime.ps(id).catch(() => []);
  throw new ExecutorError("stuck", `executor ${id}: processes are left after SIGKILL`, { pids });
}

/** It may be over already, or the runtime may not know it any longer. */
async function tolerant(killed: Promise<void>): Promise<void> {
  try {
    await killed;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code !== "wrong-status" && !LOST_STATE.includes(code ?? "")) throw error;
  }
}

async function endsWithin(wait: () => Promise<unknown>, ms: number): Promise<boolean> {
  const stop = new AbortController();
  try {
    return await Promise.race([wait().then(() => true), sleep(ms, false, { signal: stop.signal })]);
  } finally {
    stop.abort();
  }
}

interface Shared {
  readonly ids: string[];
  readonly done: Promise<void>;
}

/** The command line of one process is bounded. */
const MOST = 64;

/** Not sent yet, by program, state directory and signal. */
const waiting = new Map<string, Shared>();

/**
 * The signal to init of a container. Containers that get the same signal at the same time, as those of one task, get it from one process: starting a
 * process for each takes longer than all else of it. @throws as Runtime.kill; one that has ended, or is not there, may also be no error
 */
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
