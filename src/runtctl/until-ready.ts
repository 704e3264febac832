/** Waits until tasks are ready. */
import type { Readiness, TaskDetail } from "../engine/index.ts";
import { ClientError } from "./client.ts";
import type { Session } from "./session.ts";
import { inTask } from "./tasks.ts";
import { untilEach } from "./until-each.ts";

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
  const open = new Map<string, Readiness>();
  const look = async (id: string) => {
    const now = await readinessOf(session, id);
    if (now.state === "ready") open.delete(id);
    else open.set(id, now);
    // A task without checks is ready as soon as it runs, and may fail while others are waited for.
    return now.state === "ready" ? "done for now" : now.state === "failed" ? "end" : "open";
  };
  await untilEach(session, ids, { limitMs, tells: () => true, look });
  // The first that failed ended the wait: the others were looked at earlier, or not at all.
  if ([...open.values()].some(isFailed)) for (const id of ids.filter((one) => !isFailed(open.get(one)))) await look(id);
  return open;
}

function isFailed(readiness: Readiness | undefined): boolean {
  return readiness?.state === "failed";
}

async function readinessOf(session: Session, id: string): Promise<Readiness> {
  try {
    const { readiness } = await session.client.call<TaskDetail>("GET", inTask(session, id, "detail"));
    return readiness;
  } catch (error) {
    if (error instanceof ClientError && error.code === "unknown-task") return { state: "failed", why: "it was removed" };
    throw error;
  }
}
