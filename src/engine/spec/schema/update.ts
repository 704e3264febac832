/** How the replicas of a service are replaced by those of another version. */
import { z } from "zod";
import { duration, name } from "./quantities.ts";

const MOST_REPLICAS = 1000;
const DAY_MS = 24 * 3_600_000;
const LONGEST_DRAIN_MS = 3_600_000;

const within = duration.refine((ms) => ms <= DAY_MS, "is longer than a day");

/** What a new replica must show, and how many are replaced at the same time. */
const pace = {
  order: z
    .enum(["stop-first", "start-first"])
    .default("stop-first")
    .describe(
      "stop-first: the old replica ends before the new one starts. start-first: the old replica ends when the new one is good. Replicas that share a port of the host are replaced stop-first.",
    ),
  parallelism: z
    .int()
    .min(0)
    .max(MOST_REPLICAS)
    .default(1)
    .describe("Number of replicas that are replaced at the same time, until `monitor` is over for each. 0: all."),
  delay: within.default(0).describe("Time between a replica that counts as good and the next one."),
  monitor: within
    .default(5000)
    .describe(
      "How long a new replica must work before it counts as good. A container that ends in this time, or before, fails the replica. 0: containers may restart until `readyWithin` is over.",
    ),
  minReady: within
    .default(0)
    .describe(
      "How long a new replica must work before the time of `monitor` begins. With start-first, services lead no connections to it before that, as long as the replica that it replaces serves.",
    ),
  readyWithin: within.default(600_000).describe("Maximum time until a new replica works. Then it has failed."),
  maxFailureRatio: z.number().min(0).max(1).default(0).describe("Part of the replicas that may fail, from 0 to 1."),
};

export const update = z
  .strictObject({
    ...pace,
    onFailure: z
      .enum(["rollback", "pause", "continue"])
      .default("rollback")
      .describe(
        "What happens if more replicas fail. rollback: all replicas return to the last version that was good. pause: no further replica is replaced. continue: the rollout goes on.",
      ),
    drain: duration
      .refine((ms) => ms <= LONGEST_DRAIN_MS, "is longer than an hour")
      .optional()
      .describe(
        "How long a replica that is replaced, or removed because there are fewer, keeps its connections at most: it gets no new ones, and is stopped when they have ended. Absent: 10 s. 0: it is stopped at once.",
      ),
    reverse: z.literal(true).optional().describe("The replica with the highest index is replaced first. Absent: the lowest."),
    partition: z.int().min(0).optional().describe("Replicas with a lower index are not replaced. Absent: all are."),
  })
  .describe("How the task is replaced when its spec changes: step by step with the other replicas of its service.");

export const rollback = z
  .strictObject({ ...pace, onFailure: z.enum(["pause", "continue"]).default("pause").describe("As in `update`.") })
  .describe("How replicas return to the earlier version. Absent: as `update` says.");

export const replica = z
  .strictObject({ of: name, index: z.int().min(0).describe("It stays the same when the replica is replaced.") })
  .describe("The service of which the task is a replica. Absent: the task is the only replica of a service with its name.");
