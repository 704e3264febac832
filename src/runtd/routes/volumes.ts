/** Volumes that outlive tasks (`kept`). */
import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { volumeRemoval, volumeView } from "../schemas/volume.ts";

export const listVolumes = jsonRoute({
  method: "get",
  path: "/v1/volumes",
  operation: "listVolumes",
  access: "read",
  summary: "Volumes of all groups that outlive tasks, and which tasks name them",
  query: z.object({
    size: z.enum(["true", "false"]).default("false").describe("Whether to measure them, which takes as long as they have files."),
  }),
  answer: { status: 200, description: "By group and name", schema: z.strictObject({ volumes: z.array(volumeView) }) },
  handle: async ({ engine, query }) => ({ volumes: [...(await engine.volumes.list(query.size === "true"))] }),
});

export const removeVolumes = jsonRoute({
  method: "post",
  path: "/v1/volumes/delete",
  operation: "removeVolumes",
  access: "admin",
  summary: "Remove volumes that no task names",
  body: volumeRemoval,
  answer: { status: 200, description: "They are gone", schema: z.strictObject({ removed: z.array(z.string()) }) },
  errors: ["unknown-volume", "volume-in-use"],
  async handle({ engine, body: { group, names }, caller }) {
    const by = await caller();
    const removed = await (names === undefined ? engine.volumes.removeUnused(group) : engine.volumes.remove(names, group));
    log("info", "volumes-removed", { group, volumes: removed.join(", "), by });
    return { removed: [...removed] };
  },
});
