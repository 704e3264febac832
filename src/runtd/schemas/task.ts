/** Tasks as the API shows them. */
import { z } from "zod";
import type { Applied, ContainerView, Progress, TaskView } from "../../engine/index.ts";

export const desired = z.enum(["RUNNING", "STOPPED"]);
export const containerStatus = z.enum(["NONE", "PULLED", "CREATED", "RUNNING", "RESOURCES_PROVISIONED", "STOPPED"]);
export const taskStatus = z.enum(["NONE", "CREATED", "RUNNING", "STOPPED"]);
const wallMs = z.int().describe("Milliseconds since the epoch.");

export const containerExit = z.strictObject({
  code: z.int().nullable().describe("128 + signal if a signal ended it. null if the end was not observed, or if it never ran."),
  signal: z.int().nullable(),
  oomKilled: z.boolean(),
  unknown: z.boolean().describe("It has ended with an unknown status."),
  endedWallMs: z.number(),
});

export const imageVia = z
  .enum(["pulled", "current", "cache", "usingCachedDigest"])
  .describe(
    "pulled: it was downloaded. current: the source had nothing newer. cache: the source was not asked. usingCachedDigest: the source failed, and the local image is used.",
  );

export const agentState = {
  known: z.enum(["RUNNING", "STOPPED"]),
  pid: z.int().nullable().describe("On the host."),
  restarts: z.int().describe("Number of its restarts in this incarnation of its container."),
  reason: z.string().nullable().describe("The reason why it does not run."),
};

export const pullProgress = z
  .strictObject({
    bytes: z.number().describe("Bytes of its packed layers that the host has. Layers from before the pull count as well."),
    total: z.number().nullable().describe("Bytes of all its packed layers. null if the source does not say it."),
    layers: z
      .strictObject({ done: z.int().describe("Layers that the host has as a whole."), total: z.int() })
      .nullable()
      .describe("null if the source does not say how many layers the image has."),
  })
  .meta({ id: "PullProgress" }) satisfies z.ZodType<Progress>;

export const containerView = z
  .strictObject({
    name: z.string(),
    type: z
      .enum(["normal", "namespacePause"])
      .describe("namespacePause: it holds the namespaces that the other containers share. No task file names it."),
    id: z.string().describe("Id of this incarnation in the runtime."),
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
          .describe("The check that ended the container, such as `liveness check 3 times in a row`. null if no check ended it."),
      })
      .nullable()
      .describe("The previous incarnation, if `exit` is its end. null if `exit` is the end of this one."),
    waitsForRestart: z.boolean().describe("It has ended, and the delay before its next start is not over."),
    health: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]).nullable().describe("The state of its health check. null if it has none."),
    reason: z.string().nullable(),
    updateError: z
      .string()
      .nullable()
      .describe("The reason why it does not have the limits of its spec. null if it has them, or will have them soon."),
    image: z
      .strictObject({
        reference: z.string().describe("The reference in the task."),
        digest: z.string().describe("Digest of the content at its source."),
        via: imageVia,
      })
      .nullable()
      .describe("The image of the container. null if it has none, or if it was not pulled yet."),
    pull: z
      .enum(["pulling", "unpacking"])
      .optional()
      .describe(
        "Progress of the pull of its image. unpacking: the download is complete. Absent if the download has not started, or if nothing is pulled.",
      ),
    pullProgress: pullProgress.optional().describe("How much of its image the host has. Absent in the same cases as `pull`."),
    agents: z
      .array(z.strictObject({ name: z.string(), ...agentState }))
      .describe("Programs that were started in the container beside its own."),
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
    from: z.string().nullable().describe("The file, or the directory of the Compose project, from which it was applied; null if unknown."),
    desired,
    known: taskStatus,
    admission: z.enum(["waiting", "admitted", "released"]),
    waiting: z.array(z.string()).nullable().describe("The missing resources of the host for which it waits. null if it does not wait."),
    reason: z.string().nullable().describe("The reason why it has stopped: a chain that begins with the outermost reason."),
    createdMs: wallMs,
    pulls: z
      .strictObject({ startedMs: wallMs, stoppedMs: wallMs.nullable() })
      .nullable()
      .describe("The time when the first pull of an image started, and when the last one ended. null if there was none."),
    replaces: z.string().nullable().describe("Id of the task that it has replaced."),
    addresses: z
      .array(z.string())
      .describe("Addresses in its own network, with the prefix length. The first one reaches the task. Empty if it has none now."),
    networkLacks: z
      .string()
      .optional()
      .describe("Why it has only loopback in the place of its network (`network.fallback`). Absent: it has its network, or none now."),
    ports: z.array(z.string()).describe("Ports of the host that lead to the task, such as `0.0.0.0:8080->80/tcp`."),
    readiness: z
      .strictObject({ state: z.enum(["ready", "waits", "failed"]), why: z.string() })
      .describe(
        "Whether it has reached the state of its file. failed: it has ended in a different way, and does not start again by itself.",
      ),
    drain: z
      .strictObject({
        connections: z.int().nullable().describe("Connections that have not ended. null: they cannot be counted."),
        untilMs: wallMs,
      })
      .optional()
      .describe("Set while a replaced replica keeps its connections: it is stopped when they have ended, or at this time."),
    left: z
      .array(z.strictObject({ of: z.string().describe("A container, or a resource of the task."), message: z.string() }))
      .describe("Objects that could not be stopped or removed yet, with the reason. The daemon tries again at least once a minute."),
    schedule: z
      .strictObject({
        cron: z.string(),
        timeZone: z.string().nullable().describe("null: the time zone of the daemon."),
        overlap: z.enum(["allow", "forbid", "replace"]),
        suspended: z.boolean(),
        nextMs: wallMs.nullable().describe("Time of the next run. null if there is none, or if the schedule is suspended or stopped."),
        lastMs: wallMs.nullable().describe("The schedule time that was started last. null if there was none."),
        heldMs: wallMs.nullable().describe("The schedule time that waits for the end of the previous run. null if there is none."),
        runs: z
          .array(
            z.strictObject({
              atMs: wallMs,
              state: z.enum(["active", "succeeded", "failed"]),
              tasks: z.array(z.string()).describe("Names of the tasks."),
              endedMs: wallMs.nullable(),
            }),
          )
          .describe("Active and kept runs, the oldest first."),
      })
      .optional()
      .describe("A task with a schedule has no containers: each run is a separate task."),
    run: z
      .strictObject({ of: z.string().describe("Name of the task with the schedule."), atMs: wallMs })
      .optional()
      .describe("The schedule and the time of this run."),
    containers: z.array(containerView),
  })
  .meta({ id: "Task" }) satisfies z.ZodType<TaskView>;

export const appliedChange = z
  .enum(["created", "unchanged", "updated", "replaced", "rolling", "started", "succeeded", "removed", "absent"])
  .describe(
    "updated: limits changed in place. rolling: the rollout of its service replaces it. started: it had ended, and runs again. succeeded: it has succeeded, and is not run again. absent: it is not in the file, and stays.",
  );

/** One line for each value that is accepted and does something else than its author expects. */
export const warnings = z.array(z.string()).describe("Accepted values with an effect that the author may not expect.");

export const applied = z
  .strictObject({
    kind: z.literal("pool").optional().describe("Absent: it is a task."),
    id: z.string(),
    name: z.string(),
    change: appliedChange,
    service: z.string().optional().describe("The service of which the task is a replica."),
    revision: z.int().optional().describe("The version to which the rollout of that service leads."),
  })
  .meta({ id: "Applied" }) satisfies z.ZodType<Applied>;
