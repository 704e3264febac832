/** Services with replicas: their versions and rollouts. */
import { z } from "zod";
import type { ServiceView } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { groupName, inGroup } from "../schemas/names.ts";

const ms = z.number().describe("Milliseconds since the epoch.");
const why = z.string().nullable().describe("The chain of reasons. null: there is none.");

const serviceView = z
  .strictObject({
    group: z.string(),
    name: z.string(),
    revision: z.int().describe("The version to which the current or last rollout leads."),
    kind: z
      .enum(["create", "update", "rollback", "restart"])
      .describe("create: the first version. rollback: the automatic return to the last good version."),
    state: z.enum(["progressing", "paused", "complete", "failed"]),
    failed: z.int().nullable().describe("The version from which a rollback returns."),
    reason: why,
    begunMs: ms,
    endedMs: ms.nullable(),
    replicas: z.array(
      z.strictObject({
        name: z.string().describe("Name of the task."),
        index: z.int(),
        state: z
          .enum(["waiting", "starting", "watched", "good", "failed", "left"])
          .describe(
            "waiting: it has the earlier version. starting: the new one does not work yet. watched: it works, and the time of `monitor` is not over. left: the rollout does not touch it, because somebody has stopped or removed it, `partition` leaves it out, or it was added after the rollout has failed.",
          ),
        task: z.string().nullable().describe("Id of its task."),
        reason: why,
      }),
    ),
    history: z
      .array(
        z.strictObject({
          revision: z.int(),
          cause: z.enum(["apply", "undo", "restart", "scale", "autoupdate"]),
          of: z.int().nullable().describe("For undo: the version that it repeats."),
          by: z.strictObject({ uid: z.int(), pid: z.int(), via: z.string().optional() }).nullable().describe("Who has asked for it."),
          atMs: ms,
          changed: z.array(z.string()).describe("Fields that differ from the version before, as JSON pointers into a task."),
          images: z
            .array(
              z.strictObject({
                container: z.string(),
                reference: z.string().describe("As its spec has it."),
                digest: z.string().nullable().describe("null: no replica has pulled it yet."),
              }),
            )
            .describe("Of the containers of the first replica that have an image."),
          verdict: z
            .enum(["unknown", "good", "failed"])
            .describe("unknown: its rollout has not ended, or `partition` has left out all replicas."),
          reason: why,
        }),
      )
      .describe("The oldest first, at most ten."),
  })
  .meta({ id: "Service" }) satisfies z.ZodType<ServiceView>;

const serviceParams = z.object({ name: groupName.describe("Name of a service in the group.") });

const recorded = {
  status: 202,
  description: "The request is recorded, but not carried out yet",
  schema: z.strictObject({ revision: z.int().describe("The version to which the rollout leads.") }),
} as const;

export const listRollouts = jsonRoute({
  method: "get",
  path: "/v1/rollouts",
  operation: "listRollouts",
  access: "read",
  summary: "List the services with replicas of all groups, and their rollouts",
  answer: { status: 200, description: "By group and name", schema: z.strictObject({ services: z.array(serviceView) }) },
  handle: ({ engine }) => ({ services: engine.rollouts.list() }),
});

export const getRollout = jsonRoute({
  method: "get",
  path: "/v1/rollouts/{name}",
  operation: "getRollout",
  access: "read",
  summary: "Show the rollout of a service, and its last versions",
  params: serviceParams,
  query: inGroup,
  answer: { status: 200, description: "The service", schema: serviceView },
  errors: ["unknown-service"],
  handle: ({ engine, params, query }) => engine.rollouts.get(params.name, query.group),
});

export const undoRollout = jsonRoute({
  method: "post",
  path: "/v1/rollouts/{name}/undo",
  operation: "undoRollout",
  access: "admin",
  summary: "Return to an earlier version of a service by a rollout",
  params: serviceParams,
  query: inGroup,
  body: z.strictObject({ revision: z.int().min(1).optional().describe("Absent: the last good one before the current one.") }),
  answer: recorded,
  errors: ["unknown-service", "unknown-revision", "nothing-to-roll-back", "no-room", "not-written"],
  async handle({ engine, params, query, body, caller }) {
    const by = await caller();
    const revision = await engine.rollouts.undo(params.name, query.group, body.revision, by);
    log("info", "rollout-undo-asked", { service: params.name, group: query.group, revision, by });
    return { revision };
  },
});

export const scaleService = jsonRoute({
  method: "post",
  path: "/v1/rollouts/{name}/scale",
  operation: "scaleService",
  access: "admin",
  summary: "Change the number of a service's replicas",
  params: serviceParams,
  query: inGroup,
  body: z.strictObject({
    replicas: z
      .int()
      .min(1)
      .max(1000)
      .describe("New replicas start at once. The highest indices are removed. A rollout that is paused or has failed stays so."),
  }),
  answer: recorded,
  errors: ["unknown-service", "not-scalable", "no-room", "not-written"],
  async handle({ engine, params, query, body: { replicas }, caller }) {
    const by = await caller();
    const revision = await engine.rollouts.scale(params.name, query.group, replicas, by);
    log("info", "scale-asked", { service: params.name, group: query.group, replicas, revision, by });
    return { revision };
  },
});

const simple = (verb: "pause" | "resume" | "restart", summary: string, error: "not-rolling" | "unknown-revision") =>
  jsonRoute({
    method: "post",
    path: `/v1/rollouts/{name}/${verb}`,
    operation: `${verb}Rollout`,
    access: "admin",
    summary,
    params: serviceParams,
    query: inGroup,
    answer: recorded,
    errors: ["unknown-service", error, "no-room", "not-written"],
    async handle({ engine, params, query, caller }) {
      const by = await caller();
      const revision = await engine.rollouts[verb](params.name, query.group, by);
      log("info", `rollout-${verb}-asked`, { service: params.name, group: query.group, revision, by });
      return { revision };
    },
  });

export const pauseRollout = simple("pause", "Pause the rollout of a service: no further replica is replaced", "not-rolling");
export const resumeRollout = simple("resume", "Go on with a paused rollout; replicas that have failed are tried again", "not-rolling");
export const restartRollout = simple("restart", "Replace each replica of a service by one with the same spec", "unknown-revision");
