/** Tasks as the API shows them. */
import { z } from "zod";
import type { Applied, ContainerView, TaskView } from "../../engine/index.ts";

export const desired = z.enum(["RUNNING", "STOPPED"]);
export const containerStatus = z.enum(["NONE", "PULLED", "CREATED", "RUNNING", "RESOURCES_PROVISIONED", "STOPPED"]);
export const taskStatus = z.enum(["NONE", "CREATED", "RUNNING", "STOPPED"]);
const wallMs = z.int().describe("Milliseconds since the epoch.");

export const containerExit = z.strictObject({
  code: z.int().nullable().describe("128 + signal when a signal ended it. null: the end was not observed, or it never ran."),
  signal: z.int().nullable(),
  oomKilled: z.boolean(),
  unknown: z.boolean().describe("It has ended with an unknown status."),
  endedWallMs: z.number(),
});

export const imageVia = z
  .enum(["pulled", "current", "cache", "usingCachedDigest"])
  .describe(
    "pulled: it has come then. current: the source had nothing newer. cache: the source was not asked. usingCachedDigest: the source has failed, and what was there before is used.",
  );

export const agentState = {
  known: z.enum(["RUNNING", "STOPPED"]),
  pid: z.int().nullable().describe("On the host."),
  restarts: z.int().describe("How often it was started again in this incarnation of its container."),
  reason: z.string().nullable().describe("Why it does not run."),
};

export const containerView = z
  .strictObject({
    name: z.string(),
    type: z
      .enum(["normal", "namespacePause"])
      .describe("namespacePause: it holds the namespaces that the others share, and no task file names it."),
    id: z.string().describe("Of this incarnation, in the runtime."),
    generation: z.int(),
    desired,
    known: containerStatus,
    restarts: z.int(),
    startedMs: wallMs.nullable(),
    stoppedMs: wallMs.nullable(),
    exit: containerExit.nullable(),
    lastRun: z
      .strictObject({
        id: z.string(),
        startedMs: wallMs.nullable(),
        failedCheck: z
          .string()
          .nullable()
          .describe("The check because of which it was ended, such as `liveness check 3 times in a row`. null: no check has ended it."),
      })
      .nullable()
      .describe("The incarnation before, when `exit` is its end. null: it is the end of this one."),
    waitsForRestart: z.boolean().describe("It has ended, and the delay before its next start is not over."),
    health: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]).nullable().describe("The state of its health check. null: it has none."),
    reason: z.string().nullable(),
    updateError: z.string().nullable().describe("Why it does not have the limits of its spec; null: it has them, or will soon."),
    image: z
      .strictObject({
        reference: z.string().describe("As the task names it."),
        digest: z.string().describe("As its source names the content."),
        via: imageVia,
      })
      .nullable()
      .describe("What it is made from. null: it has none, or it was not got yet."),
    pull: z
      .enum(["pulling", "unpacking"])
      .optional()
      .describe("How far the pull of its image is. unpacking: all of it has come. Absent: nothing has come yet, or nothing is pulled."),
    agents: z
      .array(z.strictObject({ name: z.string(), ...agentState }))
      .describe("Programs that run in it beside its own; those that were begun."),
    log: z.string().describe("File on the daemon's host."),
  })
  .meta({ id: "Container" }) satisfies z.ZodType<ContainerView>;

export const taskView = z
  .strictObject({
    id: z.string(),
    group: z.string(),
    name: z.string(),
    generation: z.int(),
    digest: z.string(),
    from: z.string().nullable().describe("The file, or the directory of the Compose project, that it was applied from; null: unknown."),
    desired,
    known: taskStatus,
    admission: z.enum(["waiting", "admitted", "released"]),
    waiting: z
      .array(z.string())
      .nullable()
      .describe("What it waits for before it can begin: what is short on the host. null: it does not wait."),
    reason: z.string().nullable().describe("Why it has stopped: a chain, the outermost first."),
    createdMs: wallMs,
    pulls: z
      .strictObject({ startedMs: wallMs, stoppedMs: wallMs.nullable() })
      .nullable()
      .describe("When the first pull of an image has begun, and the last one has ended. null: none has."),
    replaces: z.string().nullable().describe("Id of the task in whose place it is."),
    addresses: z
      .array(z.string())
      .describe("Of its own network, with the length of the prefix; the first is the one to reach it at. Empty: it has none, or not now."),
    ports: z.array(z.string()).describe("Ports of the host that lead to the task, such as `0.0.0.0:8080->80/tcp`."),
    readiness: z
      .strictObject({ state: z.enum(["ready", "waits", "failed"]), why: z.string() })
      .describe("Whether it has become what its file says. failed: it has ended otherwise, and does not start again by itself."),
    left: z
      .array(z.strictObject({ of: z.string().describe("A container, or a resource of the task."), message: z.string() }))
      .describe("What could not be stopped or removed yet, and why. It is tried again, at least once a minute."),
    schedule: z
      .strictObject({
        cron: z.string(),
        timeZone: z.string().nullable().describe("null: that of the daemon."),
        overlap: z.enum(["allow", "forbid", "replace"]),
        suspended: z.boolean(),
        nextMs: wallMs.nullable().describe("When it is due next. null: never, or it is suspended or stopped."),
        lastMs: wallMs.nullable().describe("The time that was started last. null: none was."),
        heldMs: wallMs.nullable().describe("The time that waits for the end of the run before. null: none does."),
        runs: z
          .array(
            z.strictObject({
              atMs: wallMs,
              state: z.enum(["active", "succeeded", "failed"]),
              tasks: z.array(z.string()).describe("Their names."),
              endedMs: wallMs.nullable(),
            }),
          )
          .describe("What goes on and what is kept, the oldest first."),
      })
      .optional()
      .describe("A task with a schedule has no containers: each of its runs is a task."),
    run: z
      .strictObject({ of: z.string().describe("Name of the task with the schedule."), atMs: wallMs })
      .optional()
      .describe("Which time of which schedule it is."),
    containers: z.array(containerView),
  })
  .meta({ id: "Task" }) satisfies z.ZodType<TaskView>;

export const appliedChange = z
  .enum(["created", "unchanged", "updated", "replaced", "started", "succeeded", "removed", "absent"])
  .describe(
    "updated: other limits, in place. started: it had ended, and runs anew. succeeded: it has done what it was for, and is not run again. absent: it is not in the file, and stays.",
  );

/** One line for each value that is accepted and does something else than its author expects. */
export const warnings = z.array(z.string()).describe("Values that are accepted, and that do something else than their author expects.");

export const applied = z
  .strictObject({ id: z.string(), name: z.string(), change: appliedChange })
  .meta({ id: "Applied" }) satisfies z.ZodType<Applied>;
