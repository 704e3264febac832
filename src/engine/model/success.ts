/** Whether a task has succeeded. */
import type { TaskRecord } from "./record.ts";

/** Whether the task has ended by itself, and every container that was not stopped because of that has exited with 0. An unknown exit status is no success. */
export function hasSucceeded({ known, reason, containers }: TaskRecord): boolean {
  if (known !== "STOPPED" || (reason?.code !== "EssentialContainerExited" && reason?.code !== "ContainerExited")) return false;
  return containers.every(({ type, reason: why, exit }) => type === "namespacePause" || why?.code === "TaskStopped" || exit?.code === 0);
}
