/** The end of an executor: the signal, then after the grace SIGKILL for everything. */
import { setTimeout as sleep } from "node:timers/promises";
import { ExecutorError } from "./errors.ts";
import type { OwnCgroup } from "./own-cgroup.ts";
import { KILL_BOUND_MS } from "./process/end-cgroup.ts";
import type { Runtime } from "./runtime/client.ts";
import { killTogether } from "./runtime/kill-together.ts";
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
    if (code !== "wrong-status" && code !== "id-unknown" && code !== "state-unreadable") throw error;
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
