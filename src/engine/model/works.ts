/** Whether a task does its work: other tasks may rely on it. */
import { isStarting } from "./checks.ts";
import type { TaskRecord } from "./record.ts";

export function works({ known, desired, containers }: TaskRecord): boolean {
  return (
    known === "RUNNING" &&
    desired === "RUNNING" &&
    containers.every((one) => !isStarting(one) && (one.health === null || one.health.status === "HEALTHY"))
  );
}
