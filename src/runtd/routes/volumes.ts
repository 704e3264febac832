/** Volumes that outlive tasks (`kept`). */
import { z } from "zod";
import type { KeptVolumeView } from "../../engine/index.ts";
import { TooManyRequests } from "../http/errors.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { groupName } from "../schemas/names.ts";

/** Volumes that outlive tasks, as the API shows them. */
const volumeName = z.string().min(1).max(255);

const volumeView = z
  .strictObject({
    group: z.string().describe("Group of the tasks that may name the volume."),
    name: volumeName,
    createdMs: z.number().describe("Milliseconds since the epoch."),
    usedBytes: z.number().nullable().describe("Size on the disk. null if it was not requested or cannot be measured."),
    tasks: z.array(z.string()).describe("Ids of the tasks that name the volume, including stopped tasks within their retention."),
  })
  .meta({ id: "Volume" }) satisfies z.ZodType<KeptVolumeView>;

const isOne = ({ names, unused }: { readonly names?: unknown; readonly unused?: unknown }) =>
  (names === undefined) !== (unused === undefined);

const volumeRemoval = z
  .strictObject({
    group: groupName.default("default"),
    names: z
      .array(volumeName)
      .min(1)
      .optional()
      .describe("All of them are removed, or none: a missing volume, or one that a task names, is an error."),
    unused: z.literal(true).optional().describe("Every volume of the group that no task names."),
  })
  .refine(isOne, "use one of names and unused");

export const listVolumes = jsonRoute({
  method: "get",
  path: "/v1/volumes",
  operation: "listVolumes",
  access: "read",
  summary: "List the kept volumes of all groups, and the tasks that name them",
  query: z.object({
    size: z.enum(["true", "false"]).default("false").describe("Whether to measure the sizes; takes longer with many files."),
  }),
  answer: { status: 200, description: "By group and name", schema: z.strictObject({ volumes: z.array(volumeView) }) },
  errors: ["too-many"],
  async handle({ engine, query, subscribers, caller, context }) {
    if (query.size === "false") return { volumes: [...(await engine.volumes.list())] };
    // To measure takes a program for each volume, and long: as many may ask for it as for the streams.
    const place = await subscribers.placeFor(caller);
    if (typeof place === "string") throw new TooManyRequests(place);
    const free = place();
    const { signal } = context.req.raw;
    try {
      return { volumes: [...(await engine.volumes.list(true, signal))] };
    } catch (error) {
      // The client has gone away: nobody reads the answer.
      if (signal.aborted) return { volumes: [] };
      throw error;
    } finally {
      free();
    }
  },
});

export const removeVolumes = jsonRoute({
  method: "post",
  path: "/v1/volumes/delete",
  operation: "removeVolumes",
  access: "admin",
  summary: "Remove volumes that no task names",
  body: volumeRemoval,
  answer: { status: 200, description: "The removed volumes", schema: z.strictObject({ removed: z.array(z.string()) }) },
  errors: ["unknown-volume", "volume-in-use"],
  async handle({ engine, body: { group, names }, caller }) {
    const by = await caller();
    const removed = await (names === undefined ? engine.volumes.removeUnused(group) : engine.volumes.remove(names, group));
    log("info", "volumes-removed", { group, volumes: removed.join(", "), by });
    return { removed: [...removed] };
  },
});
