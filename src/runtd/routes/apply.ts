import { z } from "zod";
import type { TaskDifference } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { hostOf, warningsIn } from "../read-file.ts";
import { fileToApply } from "../schemas/file.ts";
import { applied, appliedChange, warnings } from "../schemas/task.ts";

export const applyFile = jsonRoute({
  method: "post",
  path: "/v1/apply",
  operation: "applyFile",
  access: "admin",
  summary: "Apply a file to a group of tasks, as a whole or not at all",
  body: fileToApply,
  answer: {
    status: 200,
    description: "The tasks are recorded; they may not run yet",
    schema: z.strictObject({ applied: z.array(applied), warnings }),
  },
  errors: ["invalid-spec", "no-room", "other-origin", "unknown-network", "unknown-volume", "not-written", "too-many"],
  async handle({ engine, files, caller, body: { text, group, ignoreClusterFields: ignoresClusterFields, ...options } }) {
    // The file is read while the process for the caller runs.
    const [file, by] = await Promise.all([files.read(text, { ...hostOf(engine), ignoresClusterFields }), caller()]);
    const tasks = await engine.apply(file, group, options, by);
    log("info", "applied", { group, tasks, by });
    return { applied: tasks, warnings: warningsIn(file, engine) };
  },
});

const difference = z
  .strictObject({
    kind: z.literal("pool").optional().describe("Absent: it is a task."),
    name: z.string(),
    change: appliedChange,
    fields: z
      .array(z.strictObject({ pointer: z.string(), before: z.unknown().optional(), after: z.unknown().optional() }))
      .describe("For a changed task: each field that differs, as a JSON pointer within the normalised task."),
  })
  .meta({ id: "Difference" }) satisfies z.ZodType<TaskDifference>;

export const planFile = jsonRoute({
  method: "post",
  path: "/v1/plan",
  operation: "planFile",
  access: "admin",
  summary: "Show the changes that applying a file would make",
  body: fileToApply,
  answer: {
    status: 200,
    description: "One difference for each task of the file and of the group",
    schema: z.strictObject({ tasks: z.array(difference) }),
  },
  errors: ["invalid-spec", "no-room", "other-origin", "unknown-network", "unknown-volume", "too-many"],
  async handle({ engine, files, body: { text, group, ignoreClusterFields: ignoresClusterFields, ...options } }) {
    return { tasks: engine.plan(await files.read(text, { ...hostOf(engine), ignoresClusterFields }), group, options) };
  },
});
