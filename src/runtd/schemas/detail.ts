import { z } from "zod";
import type { TaskDetail } from "../../engine/index.ts";
import { reason } from "./event.ts";

const check = z.strictObject({
  status: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]),
  sinceMs: z.int().nullable().describe("When it became what it is; null: it has not changed yet."),
  failures: z.int().describe("In a row."),
  output: z.string().nullable().describe("The end of what the last check printed. On read.sock null."),
});

export const taskDetail = z
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
        postStart: check.optional().describe("Of its hook after the start."),
        startup: check.optional().describe("Of its start: until it is HEALTHY the container is not looked at otherwise."),
        liveness: check.optional().describe("Of its life: what is UNHEALTHY is stopped."),
        dependsOn: z.array(z.string()),
        endMessage: z.string().nullable().optional().describe("What it has said of its last end. On read.sock null; absent: nothing."),
      }),
    ),
  })
  .meta({ id: "TaskDetail" }) satisfies z.ZodType<TaskDetail>;
