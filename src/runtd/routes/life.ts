/** Requests that change the life of an existing task. */
import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { inGroup, taskParams } from "../schemas/names.ts";

const recorded = {
  status: 202,
  description: "The request is recorded, but not carried out yet",
  schema: z.strictObject({ id: z.string() }),
} as const;

export const stopTask = jsonRoute({
  method: "post",
  path: "/v1/tasks/{name}/stop",
  operation: "stopTask",
  access: "admin",
  summary: "Stop a task, and keep it for inspection",
  params: taskParams,
  query: inGroup,
  answer: recorded,
  errors: ["unknown-task", "not-written"],
  async handle({ engine, params, query, caller }) {
    const by = await caller();
    const id = await engine.stop(params.name, query.group, by);
    log("info", "stop-asked", { task: id, by });
    return { id };
  },
});

export const startTask = jsonRoute({
  method: "post",
  path: "/v1/tasks/{name}/start",
  operation: "startTask",
  access: "admin",
  summary: "Start a stopped task again, unchanged",
  params: taskParams,
  query: inGroup,
  answer: {
    ...recorded,
    description: "Id of the task that will run; the same id if it already runs. The request is recorded, but not carried out yet",
  },
  errors: ["unknown-task", "no-room", "not-written"],
  async handle({ engine, params, query, caller }) {
    const by = await caller();
    const id = await engine.start(params.name, query.group, by);
    log("info", "start-asked", { task: id, by });
    return { id };
  },
});

export const restartTask = jsonRoute({
  method: "post",
  path: "/v1/tasks/{name}/restart",
  operation: "restartTask",
  access: "admin",
  summary: "Restart containers of a task",
  params: taskParams,
  query: inGroup,
  body: z.strictObject({ containers: z.array(z.string()).default([]).describe("Without entries: all containers.") }),
  answer: recorded,
  errors: ["unknown-task", "unknown-container", "not-running", "not-written"],
  async handle({ engine, params, query, body, caller }) {
    const by = await caller();
    const id = await engine.restart(params.name, query.group, body.containers, by);
    log("info", "restart-asked", { task: id, containers: body.containers, by });
    return { id };
  },
});

export const rollbackTask = jsonRoute({
  method: "post",
  path: "/v1/tasks/{name}/rollback",
  operation: "rollbackTask",
  access: "admin",
  summary: "Return to the spec that ran before under this name",
  params: taskParams,
  query: inGroup,
  answer: { ...recorded, description: "Id of the task that will run. The request is recorded, but not carried out yet" },
  errors: ["unknown-task", "nothing-to-roll-back", "not-written"],
  async handle({ engine, params, query, caller }) {
    const by = await caller();
    const id = await engine.rollback(params.name, query.group, by);
    log("info", "rollback-asked", { task: id, by });
    return { id };
  },
});
