/** Events of the journal. */
import { z } from "zod";
import type { EngineEvent, Reason } from "../../engine/index.ts";
import { agentState, containerExit, containerStatus, desired, imageVia, taskStatus } from "./task.ts";

export const reason: z.ZodType<Reason> = z
  .strictObject({
    code: z.string().describe("A stable code for programs."),
    text: z.string(),
    exitStatus: z
      .union([z.literal(126), z.literal(127)])
      .optional()
      .describe("For a program that could not be executed. 127: it, or its interpreter, does not exist. 126: another reason."),
    get cause() {
      return reason.optional();
    },
  })
  .meta({ id: "Reason", description: "A chain of reasons, the outermost first." }) as unknown as z.ZodType<Reason>;

const ofTask = {
  task: z.string().describe("Id of the task."),
  group: z.string(),
  name: z.string().describe("Name of the task."),
  wallMs: z.number().describe("Milliseconds since the epoch, for display only: the sequence numbers give the order."),
};
const ofContainer = { container: z.string(), generation: z.int() };

const caller = z
  .strictObject({
    uid: z.int(),
    pid: z.int(),
    via: z.string().optional().describe("A watched file with its commit, or another source of the request. Absent: a client has asked."),
  })
  .describe("Who has asked.");

export const engineEvent = z
  .discriminatedUnion("type", [
    z.strictObject({ type: z.literal("added"), ...ofTask, digest: z.string() }),
    z.strictObject({
      type: z.literal("request"),
      ...ofTask,
      request: z.enum(["apply", "delete", "stop", "start", "restart", "rollback", "scale"]).describe("The kind of the request."),
      by: caller,
    }),
    z.strictObject({ type: z.literal("removed"), ...ofTask }),
    z.strictObject({
      type: z.literal("schedule"),
      ...ofTask,
      state: z
        .enum(["started", "missed", "held", "taken", "reset"])
        .describe(
          "started: the tasks of this time were made. missed: the run could not start in time. held: it waits for the end of the previous run. taken: another task has the name of the run.",
        ),
      atMs: z.int().describe("The time of the schedule, in milliseconds since the epoch."),
    }),
    z.strictObject({ type: z.literal("task"), ...ofTask, known: taskStatus, desired, reason: reason.nullable() }),
    z.strictObject({ type: z.literal("waiting"), ...ofTask, missing: z.array(z.string()) }),
    z.strictObject({ type: z.literal("admitted"), ...ofTask }),
    z.strictObject({
      type: z.literal("container"),
      ...ofTask,
      ...ofContainer,
      known: containerStatus,
      exit: containerExit.nullable(),
      reason: reason.nullable(),
      adjusted: z
        .strictObject({ cpuShares: z.strictObject({ asked: z.int(), applied: z.int() }) })
        .optional()
        .describe("The container was created with a different value than its spec, because the kernel does not accept that value."),
    }),
    z.strictObject({
      type: z.literal("image"),
      ...ofTask,
      ...ofContainer,
      reference: z.string(),
      digest: z.string(),
      via: imageVia,
      error: z.string().nullable().describe("The error of the source."),
    }),
    z.strictObject({
      type: z.literal("pull"),
      ...ofTask,
      ...ofContainer,
      phase: z.enum(["pulling", "unpacking"]).describe("unpacking: the download is complete, and the image is being unpacked."),
      reference: z.string(),
      size: z
        .strictObject({ layers: z.int(), bytes: z.number().describe("Of all its packed layers.") })
        .optional()
        .describe("Size of the whole image. Absent if the source does not say it."),
    }),
    z.strictObject({ type: z.literal("health"), ...ofTask, ...ofContainer, status: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]) }),
    z.strictObject({
      type: z.literal("check"),
      check: z.enum(["postStart", "startup", "liveness"]),
      ...ofTask,
      ...ofContainer,
      status: z.enum(["UNKNOWN", "HEALTHY", "UNHEALTHY"]),
    }),
    z.strictObject({ type: z.literal("agent"), ...ofTask, ...ofContainer, agent: z.string(), ...agentState }),
    z.strictObject({ type: z.literal("resource"), ...ofTask, resource: z.string(), known: z.enum(["NONE", "CREATED", "REMOVED"]) }),
    z.strictObject({
      type: z.literal("interface"),
      interface: z.string().describe("Its name on the host."),
      state: z
        .enum(["pending", "used", "released", "expired", "detached"])
        .describe(
          "pending: it was announced. used: a task has taken it. released: its task has released it. expired: no task has taken it in time. detached: the announcement was withdrawn.",
        ),
      task: z.string().nullable().describe("Id of the task that has it, or had it."),
      by: caller.optional(),
      wallMs: ofTask.wallMs,
    }),
    z.strictObject({
      type: z.literal("watch"),
      state: z
        .enum(["applied", "removed", "refused", "drifted", "matches"])
        .describe(
          "applied, removed: tasks of the file were changed or removed. refused: nothing was changed. drifted: others have changed its tasks since. matches: its tasks are as the file says again.",
        ),
      path: z.string().describe("Of the file or the directory."),
      group: z.string().nullable(),
      message: z.string(),
      commit: z.string().optional().describe("Of the work tree of git."),
      wallMs: ofTask.wallMs,
    }),
    z.strictObject({
      type: z.literal("packetFilter"),
      message: z.string().describe("What another program has removed or changed in the packet filter of the host. It was written again."),
      wallMs: ofTask.wallMs,
    }),
    z.strictObject({
      type: z.literal("rollout"),
      group: z.string(),
      name: z.string().describe("Name of the service."),
      revision: z.int().describe("The version to which the rollout leads."),
      state: z
        .enum(["started", "replacing", "ready", "good", "failed", "left", "paused", "resumed", "rolling-back", "complete", "incomplete"])
        .describe(
          "replacing: a new task takes the place of a replica. ready: the new replica works. good: it has worked for the time of `monitor`. left: somebody has stopped or removed it. incomplete: the rollout has ended with too many failed replicas.",
        ),
      replica: z.string().optional().describe("Name of the task. Absent: the event is about the whole rollout."),
      task: z.string().nullable().describe("Id of the task of the replica."),
      reason: reason.optional(),
      by: caller.optional(),
      wallMs: ofTask.wallMs,
    }),
    z.strictObject({
      type: z.literal("pool"),
      pool: z.string().describe("Id of the pool."),
      task: z.null(),
      group: z.string(),
      name: z.string().describe("Name of the pool."),
      state: z
        .enum(["added", "failing", "recovered", "ending", "removed"])
        .describe(
          "failing: its containers cannot be made. recovered: they can be made again. ending: it is being removed. removed: nothing of it is left.",
        ),
      message: z.string().optional().describe("Why its containers cannot be made."),
      by: caller.optional(),
      wallMs: ofTask.wallMs,
    }),
    z.strictObject({
      type: z.literal("lost"),
      ...ofTask,
      ...ofContainer,
      message: z.string().describe("The missing or damaged record. The container is stopped."),
    }),
    z.strictObject({
      type: z.literal("left"),
      ...ofTask,
      of: z.string().describe("A container or a resource of the task that could not be stopped or removed. The daemon tries again."),
      message: z.string(),
    }),
    z.strictObject({ type: z.literal("alarm"), ...ofTask, container: z.string(), failures: z.int() }),
  ])
  .meta({ id: "Event" }) satisfies z.ZodType<EngineEvent>;

/** Stands for events that were dropped from the journal. */
export const gapEvent = z
  .strictObject({ after: z.int().describe("The last number before them."), next: z.int().describe("The first number after them.") })
  .meta({ id: "Gap" });
