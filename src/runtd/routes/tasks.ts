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
  sinceMs: z.int().nullable().describe("Time of the last change; null if there was no change yet."),
  failures: z.int().describe("Number of failures in a row."),
  output: z.string().nullable().describe("The end of the output of the last check. null on read.sock."),
});

const taskDetail = z
  .strictObject({
    id: z.string(),
    reason: reason.nullable(),
    readiness: z
      .strictObject({
        state: z
          .enum(["ready", "waits", "failed"])
          .describe("failed: the task has ended in a different way than its file says, and does not start again by itself."),
        why: z.string().describe("The reason why it waits or has failed."),
      })
      .describe(
        "ready: its containers run and their checks have succeeded, or the task has succeeded. A pod is ready under the conditions of Kubernetes.",
      ),
    spec: z
      .record(z.string(), z.unknown())
      .describe(
        "The applied task, with every default. On read.sock possible secrets are null: values of environment variables, annotations, headers and log options, paths of HTTP requests, arguments of commands, and contents of files.",
      ),
    resources: z.array(z.strictObject({ name: z.string(), known: z.string() })),
    users: z
      .strictObject({ first: z.int(), count: z.int() })
      .optional()
      .describe("Host ids that are 0 and up in its containers. Absent if the task uses the users of the host."),
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
          .describe("The check that ended its last run, with the end of its output. null on read.sock."),
        dependsOn: z.array(z.string()),
        endMessage: z
          .string()
          .nullable()
          .optional()
          .describe("The termination message of its last end. null on read.sock; absent if there is none."),
      }),
    ),
  })
  .meta({ id: "TaskDetail" }) satisfies z.ZodType<TaskDetail>;

export const listTasks = jsonRoute({
  method: "get",
  path: "/v1/tasks",
  operation: "listTasks",
  access: "read",
  summary: "List the tasks of all groups",
  answer: { status: 200, description: "By id", schema: z.strictObject({ tasks: z.array(taskView) }) },
  handle: ({ engine }) => ({ tasks: engine.list() }),
});

export const getTask = jsonRoute({
  method: "get",
  path: "/v1/tasks/{name}",
  operation: "getTask",
  access: "read",
  summary: "Show one task",
  params: taskParams,
  query: inGroup,
  answer: { status: 200, description: "The task", schema: taskView },
  errors: ["unknown-task"],
  handle: ({ engine, params, query }) => engine.get(params.name, query.group),
});

export const describeTask = jsonRoute({
  method: "get",
  path: "/v1/tasks/{name}/detail",
  operation: "describeTask",
  access: "read",
  summary: "Show the spec of a task, and the reasons for its state",
  params: taskParams,
  query: inGroup,
  answer: { status: 200, description: "The details; on read.sock without possible secrets", schema: taskDetail },
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
  summary: "Stop a task and remove everything that belongs to it",
  params: taskParams,
  query: inGroup,
  answer: {
    status: 202,
    description: "The request is recorded, but not carried out yet",
    schema: z.strictObject({
      ids: z.array(z.string()).describe("Ids of the tasks that are being removed: this task, and the tasks that it has replaced."),
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
    id: z.string().describe("Id of the container in the runtime."),
    task: z
      .string()
      .nullable()
      .describe("Id of its task, from its annotations. null, like the other fields, if this engine has not made the container."),
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
  summary: "List the containers that are not in the store",
  answer: { status: 200, description: "By id", schema: z.strictObject({ orphans: z.array(orphanView) }) },
  handle: async ({ engine }) => ({ orphans: [...(await engine.orphans())] }),
});
