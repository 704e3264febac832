import { z } from "zod";
import type { TaskDifference } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import { fileOfTasks } from "../schemas/file.ts";

const difference = z
  .strictObject({
    name: z.string(),
    change: z
      .enum(["create", "unchanged", "change", "unlisted"])
      .describe("change: the task is there, and asked for something else. unlisted: it is there, and not in the file."),
    fields: z
      .array(z.strictObject({ pointer: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
      .describe("Of a change: every field, by JSON pointer within the normalised task."),
  })
  .meta({ id: "Difference" }) satisfies z.ZodType<TaskDifference>;

export const planFile = jsonRoute({
  method: "post",
  path: "/v1/plan",
  operation: "planFile",
  access: "admin",
  summary: "What applying a file would change; nothing is done",
  body: fileOfTasks,
  answer: { status: 200, description: "One for each task of the group", schema: z.strictObject({ tasks: z.array(difference) }) },
  errors: ["invalid-spec"],
  handle: ({ engine, body: { text, group } }) => ({ tasks: engine.plan(text, group) }),
});
