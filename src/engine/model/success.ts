/** Whether a task has done what it was for. */
import type { TaskRecord } from "./record.ts";

/** It ended of itself, and every container that was not stopped because of that has ended with 0. What nobody saw is no success. */
export function hasSucceeded({ known, reason, containers }: TaskRecord): boolean {
  if (known !== "STOPPED" || (reason?.code !== "EssentialContainerExited" && reason?.code !== "ContainerExited")) return false;
  return containers.every(({ type, reason: why, exit }) => type === "namespacePause" || why?.code === "TaskStopped" || exit?.code === 0);
}
