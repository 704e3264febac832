/** Updates of images whose tags lead to newer ones. */
import { z } from "zod";
import type { AutoUpdateView } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import { log } from "../log.ts";
import { groupName } from "../schemas/names.ts";

const MOST_NAMES = 1000;

const digest = z.string().nullable();

const update = z
  .strictObject({
    group: z.string(),
    name: z.string().describe("Name of the service, or of a task without `update`."),
    container: z.string().describe("Stands for those of all replicas."),
    image: z.string().nullable().describe("The reference in its spec."),
    from: digest.describe("The digest that runs. null: it is not known."),
    to: digest.describe("The digest that the registry, or the store, has for the tag. null: it was not asked, or has not answered."),
    state: z
      .enum(["updating", "pending", "no", "failed"])
      .describe("updating: a rollout has begun. pending: it would begin without dryRun. no: the container stays as it is."),
    revision: z.int().nullable().describe("The version to which the rollout leads. null: none has begun."),
    reason: z.string().nullable().describe("Why it stays or has failed. null: there is nothing newer, or something newer."),
  })
  .meta({ id: "AutoUpdate" }) satisfies z.ZodType<AutoUpdateView>;

export const autoUpdate = jsonRoute({
  method: "post",
  path: "/v1/autoupdate",
  operation: "autoUpdate",
  access: "admin",
  summary: "Ask registries, or the store, for newer images of the tags that services run, and roll these out",
  description:
    "Only containers with the annotation io.containers.autoupdate: registry, or local for images of the store, are meant. The request takes as long as the registries need: each answer at most 30 s, each pull as long as configured. Rollouts have begun when it ends.",
  body: z
    .strictObject({
      group: groupName.optional().describe("Absent: all groups."),
      names: z.array(groupName).min(1).max(MOST_NAMES).optional().describe("Services of the group, which is needed then. Absent: all."),
      dryRun: z.boolean().default(false).describe("Only ask: nothing is pulled, and nothing changes."),
    })
    .refine(({ group, names }) => names === undefined || group !== undefined, "names of services need their group"),
  answer: {
    status: 200,
    description: "One entry for each such container, and for each container of a service that is named",
    schema: z.strictObject({ updates: z.array(update) }),
  },
  errors: ["unknown-service", "not-written"],
  async handle({ engine, body: { group = null, names, dryRun }, caller, context }) {
    const by = await caller();
    // A client that goes away ends the request before further rollouts begin.
    const updates = await engine.rollouts.updates.run({ group, names, dryRun }, by, context.req.raw.signal);
    const begun = updates.filter(({ state }) => state === "updating").map((one) => `${one.group}/${one.name}`);
    if (!dryRun) log("info", "autoupdate-asked", { begun: [...new Set(begun)].join(", "), by });
    return { updates };
  },
});
