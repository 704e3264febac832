/** Whether this program can work with a row of the store. Its checksum is right: another program may have written it, or it was put there by hand. */
import { CONTAINER_STATUSES, RECORD_VERSION, RESOURCE_STATUSES, TASK_STATUSES, type TaskRecord } from "../../model/index.ts";
import type { StoredRecord } from "../../store/index.ts";

const DESIRED = ["RUNNING", "STOPPED"];
const STEADY = ["RUNNING", "RESOURCES_PROVISIONED"];

/** A task of a newer program counts as usable: that one is refused by name. */
export function isUsable({ kind, key, content }: StoredRecord): boolean {
  try {
    const value: unknown = JSON.parse(content);
    if (typeof value !== "object" || value === null) return false;
    return kind !== "task" || isTask(value as TaskRecord, key);
  } catch {
    // It is no JSON, or parts of it are missing.
    return false;
  }
}

/** A status that nobody knows would end each decision about the task with an error, so that it could neither be stopped nor deleted. */
function isTask({ version, id, spec, known, desired, containers, resources, leftovers }: TaskRecord, key: string): boolean {
  if ((version as number) > RECORD_VERSION) return true;
  return (
    id === key &&
    isOf(TASK_STATUSES, known) &&
    isOf(DESIRED, desired) &&
    Array.isArray(spec.containers) &&
    Array.isArray(leftovers) &&
    containers.every(
      (one) =>
        isOf(CONTAINER_STATUSES, one.known) &&
        isAppliedIn(CONTAINER_STATUSES, one) &&
        isOf(DESIRED, one.desired) &&
        isOf(STEADY, one.steady),
    ) &&
    resources.every((one) => isOf(RESOURCE_STATUSES, one.known) && isAppliedIn(RESOURCE_STATUSES, one))
  );
}

const isOf = (words: readonly string[], word: string): boolean => words.includes(word);

const isAppliedIn = (words: readonly string[], { applied }: { readonly applied: string | null }): boolean =>
  applied === null || words.includes(applied);
