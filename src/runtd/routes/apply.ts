import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { groupName } from "../schemas/names.ts";
import { applied } from "../schemas/task.ts";

export const applyFile = jsonRoute({
  method: "post",
  path: "/v1/apply",
  access: "admin",
  summary: "Start the tasks of a file, all or none",
  body: z.strictObject({ text: z.string().describe("YAML or JSON: one task for each document."), group: groupName.default("default") }),
  answer: { status: 200, description: "They are recorded; they may not run yet", schema: z.strictObject({ applied: z.array(applied) }) },
  errors: ["invalid-spec", "changed-spec", "not-running", "not-written"],
  async handle({ engine, body: { text, group } }) {
    const tasks = await engine.apply(text, group);
    log("info", "applied", { group, tasks });
    return { applied: tasks };
  },
});
