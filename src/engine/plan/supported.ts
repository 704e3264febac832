/** What a task may ask for and this engine cannot do: refused by name, before anything happens. */
import type { TaskSpec } from "../spec/index.ts";
import type { Refused } from "./refused.ts";

const NOT_YET = "is not supported by this version of runtd";

/** One for each field; empty: all of it can be done. */
export function unsupportedIn(task: TaskSpec): Refused[] {
  const named = (pointer: string, isUsed: boolean): Refused[] => (isUsed ? [{ pointer, message: NOT_YET }] : []);
  return named("/start", task.start === "always");
}
