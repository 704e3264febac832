import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { fileOfTasks } from "../schemas/file.ts";
import { applied } from "../schemas/task.ts";

export const applyFile = jsonRoute({
  method: "post",
  path: "/v1/apply",
  operation: "applyFile",
  access: "admin",
  summary: "Start the tasks of a file, all or none",
  body: fileOfTasks,
  answer: { status: 200, description: "They are recorded; they may not run yet", schema: z.strictObject({ applied: z.array(applied) }) },
  errors: ["invalid-spec", "changed-spec", "not-running", "not-written"],
  async handle({ engine, caller, body: { text, group } }) {
    const tasks = await engine.apply(text, group, caller);
    log("info", "applied", { group, tasks, by: caller });
    return { applied: tasks };
  },
});
