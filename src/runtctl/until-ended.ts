/** Waits until tasks have stopped or are gone, and says what keeps them from it. */

import type { EngineEvent, TaskView } from "../engine/index.ts";
import { parseDuration } from "../engine/index.ts";
import { UsageError } from "./errors.ts";
import { printable } from "./output/style.ts";
import { printError } from "./platform/index.ts";
import type { Session } from "./session.ts";
import { taskIfThere } from "./tasks.ts";
import { untilEach } from "./until-each.ts";

/** A task stops within the stop timeouts of its containers, unless something of it cannot be ended. */
export const DEFAULT_WAIT = "10m";

export interface WaitedFor {
  readonly wait: boolean;
  readonly timeout?: string;
}

/** In milliseconds. @throws UsageError */
export function limitOf({ wait, timeout }: WaitedFor): number {
  if (timeout !== undefined && !wait) throw new UsageError("--timeout with --no-wait: there is no wait that it could end");
  return durationOf(timeout ?? DEFAULT_WAIT);
}

/** In milliseconds. @throws UsageError */
export function durationOf(timeout: string): number {
  const limitMs = parseDuration(timeout);
  if (limitMs === undefined) throw new UsageError(`--timeout: ${timeout} is no duration like 10s or 2m`);
  return limitMs;
}

export interface Ended {
  /** Names. */
  readonly tasks: readonly { readonly id: string; readonly name: string }[];
  readonly to: "stopped" | "deleted";
  readonly limitMs: number;
}

/**
 * Returns when each task has stopped, or is gone, or the time is over: ids of those that are not. What could not be stopped or removed is told as soon as the daemon
 * says so, and once. @throws ClientError
 */
export async function untilEnded(session: Session, { tasks, to, limitMs }: Ended): Promise<ReadonlySet<string>> {
  const open = new Map(tasks.map(({ id, name }) => [id, `task ${name} is not ${to}`]));
  const told = new Set<string>();
  await untilEach(
    session,
    tasks.map(({ id }) => id),
    {
      limitMs,
      tells: TELLING[to],
      async look(id) {
        const task = await taskIfThere(session, id);
        if (task === undefined || (to === "stopped" && task.known === "STOPPED")) {
          open.delete(id);
          return "done";
        }
        const why = leftIn(task);
        if (why === "") return "open";
        const line = `task ${task.name} is not ${to} yet: ${why}`;
        if (!told.has(line)) printError(`runtctl: ${printable(line)}; the daemon tries again`);
        told.add(line);
        open.set(id, `task ${task.name} is not ${to}: ${why}`);
        return "open";
      },
    },
  );
  for (const line of open.values()) printError(`runtctl: ${printable(line)}; the wait is over, and the daemon goes on`);
  return new Set(open.keys());
}

/** A daemon of an earlier version does not say it. */
function leftIn({ left = [] }: Partial<Pick<TaskView, "left">>): string {
  return left.map(({ of, message }) => `${of}: ${message}`).join("; ");
}

const TELLING: Readonly<Record<Ended["to"], (event: EngineEvent) => boolean>> = {
  deleted: ({ type }) => type === "removed" || type === "left",
  stopped: ({ type }) => type === "task" || type === "removed" || type === "left",
};
