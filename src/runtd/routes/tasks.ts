import { z } from "zod";
import type { OrphanView, TaskDetail } from "../../engine/index.ts";
import { podReadiness } from "../../pod/index.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { reason } from "../schemas/event.ts";
import { inGroup, taskParams } from "../schemas/names.ts";
import { taskView } from "../schemas/task.ts";

const check = z.strictObject({
  status: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]),
  sinceMs: z.int().nullable().describe("When it became what it is; null: it has not changed yet."),
  failures: z.int().describe("In a row."),
  output: z.string().nullable().describe("The end of what the last check printed. On read.sock null."),
});

const taskDetail = z
  .strictObject({
    id: z.string(),
    reason: reason.nullable(),
    readiness: z
      .strictObject({
        state: z
          .enum(["ready", "waits", "failed"])
          .describe("failed: it has ended otherwise than its file says, and does not start again by itself."),
        why: z.string().describe("What it waits for, or why it failed."),
      })
      .describe(
        "ready: its containers run and their checks have succeeded, or it has succeeded. A pod is ready when Kubernetes would call it Ready.",
      ),
    spec: z
      .record(z.string(), z.unknown())
      .describe(
        "As it was applied, with every default. On read.sock what may be a secret is null: values of environments, annotations, headers and log options, paths of HTTP requests, arguments of commands, and what is in files.",
      ),
    resources: z.array(z.strictObject({ name: z.string(), known: z.string() })),
    users: z
      .strictObject({ first: z.int(), count: z.int() })
      .optional()
      .describe("Ids of the host that are 0 and up in its containers. Absent: it has the users of the host."),
    containers: z.array(
      z.strictObject({
        name: z.string(),
        reason: reason.nullable(),
        health: check.nullable(),
        postStart: check.optional().describe("Its postStart hook."),
        startup: check.optional().describe("Its startup check. Until it is HEALTHY no other check runs."),
        liveness: check.optional().describe("Its liveness check. A container that fails it is stopped."),
        failedCheck: z
          .strictObject({ check: z.string(), output: z.string().nullable() })
          .optional()
          .describe("The check because of which its last run was ended, with the end of its output. On read.sock null."),
        dependsOn: z.array(z.string()),
        endMessage: z.string().nullable().optional().describe("What it has said of its last end. On read.sock null; absent: nothing."),
      }),
    ),
  })
  .meta({ id: "TaskDetail" }) satisfies z.ZodType<TaskDetail>;

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

/** Executors that exist on the host but not in the store. */
const orphanView = z
  .strictObject({
    id: z.string().describe("Of the container, in the runtime."),
    task: z.string().nullable().describe("Id of its task, as its annotations say it. null, as the rest: this engine has not made it."),
    group: z.string().nullable(),
    name: z.string().nullable(),
    container: z.string().nullable(),
    generation: z.int().nullable(),
    isRunning: z.boolean(),
  })
  .meta({ id: "Orphan" }) satisfies z.ZodType<OrphanView>;

export const listOrphans = jsonRoute({
  method: "get",
  path: "/v1/orphans",
  operation: "listOrphans",
  access: "read",
  summary: "Containers that the store does not know",
  answer: { status: 200, description: "By id", schema: z.strictObject({ orphans: z.array(orphanView) }) },
  handle: async ({ engine }) => ({ orphans: [...(await engine.orphans())] }),
});
