import { z } from "zod";
import { podReadiness } from "../../pod/index.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { taskDetail } from "../schemas/detail.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { taskView } from "../schemas/task.ts";

export const listTasks = jsonRoute({
  method: "get",
  path: "/v1/tasks",
  operation: "listTasks",
  access: "read",
  summary: "Every task of every group",
  answer: { status: 200, description: "By id", schema: z.strictObject({ tasks: z.array(taskView) }) },
  handle: ({ engine }) => ({ tasks: engine.list() }),
});

export const getTask = jsonRoute({
  method: "get",
  path: "/v1/tasks/{name}",
  operation: "getTask",
  access: "read",
  summary: "One task",
  params: taskParams,
  query: inGroup,
  answer: { status: 200, description: "What is known of it", schema: taskView },
  errors: ["unknown-task"],
  handle: ({ engine, params, query }) => engine.get(params.name, query.group),
});

export const describeTask = jsonRoute({
  method: "get",
  path: "/v1/tasks/{name}/detail",
  operation: "describeTask",
  access: "read",
  summary: "What was asked for, and why it is as it is",
  params: taskParams,
  query: inGroup,
  answer: { status: 200, description: "On read.sock without what may be a secret", schema: taskDetail },
  errors: ["unknown-task"],
  handle({ engine, params: { name }, query: { group }, isAdmin }) {
    const detail = engine.detail(name, group, { isRedacted: !isAdmin });
    // Readers see whether a pod is ready, too, although they do not see its document.
    const whole = isAdmin ? detail : engine.detail(name, group, { isRedacted: false });
    return { ...detail, readiness: podReadiness({ task: engine.get(name, group), detail: whole }) ?? detail.readiness };
  },
});

export const deleteTask = jsonRoute({
  method: "delete",
  path: "/v1/tasks/{name}",
  operation: "deleteTask",
  access: "admin",
  summary: "Stop a task and remove everything of it",
  params: taskParams,
  query: inGroup,
  answer: {
    status: 202,
    description: "It is recorded, not done",
    schema: z.strictObject({
      ids: z.array(z.string()).describe("Of what is being removed: the task, and those whose place it has taken."),
    }),
  },
  errors: ["unknown-task", "not-written"],
  async handle({ engine, params, query, caller }) {
    const by = await caller();
    const ids = await engine.delete(params.name, query.group, by);
    log("info", "delete-asked", { tasks: ids, by });
    return { ids };
  },
});
