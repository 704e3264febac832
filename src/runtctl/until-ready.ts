/** Waits until tasks are ready. */
import { setTimeout as sleep } from "node:timers/promises";
import type { TaskDetail } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import { podShown } from "./pods.ts";
import { type Readiness, readinessOf } from "./readiness.ts";
import type { Session } from "./session.ts";
import { inTask, taskIfThere } from "./tasks.ts";

const LOOK_MS = 200;

/**
 * Returns when all are ready, one has failed, or the time is over: what is not ready, by id.
 * @param limitMs undefined: without a limit
 * @throws ClientError
 */
export async function untilReady(
  session: Session,
  ids: readonly string[],
  limitMs: number | undefined,
): Promise<ReadonlyMap<string, Readiness>> {
  const end = limitMs === undefined ? Number.POSITIVE_INFINITY : performance.now() + limitMs;
  for (;;) {
    const open = new Map<string, Readiness>();
    for (const id of ids) {
      const now = await readinessNow(session, id);
      if (now.state !== "ready") open.set(id, now);
    }
    const isOver = open.size === 0 || [...open.values()].some(({ state }) => state === "failed") || performance.now() >= end;
    if (isOver) return open;
    await sleep(LOOK_MS);
  }
}

async function readinessNow(session: Session, id: string): Promise<Readiness> {
  const task = await taskIfThere(session, id);
  if (task === undefined) return readinessOf(undefined, undefined);
  try {
    const detail = await session.client.call<TaskDetail>("GET", inTask(session, id, "detail"));
    return readinessOf(task, detail, (await podShown(session, task, detail))?.status);
  } catch (error) {
    // It was removed between the two requests.
    if (error instanceof ClientError && error.code === "unknown-task") return readinessOf(undefined, undefined);
    throw error;
  }
}
