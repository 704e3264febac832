/** The JSON Schema of a task file, for editors. */
import { z } from "zod";
import { task } from "./schema/task.ts";

export function taskJsonSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(task, { io: "input" }), title: "Task of runtd" };
}
