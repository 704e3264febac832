/** Volumes that outlive tasks, as the API shows them. */
import { z } from "zod";
import type { KeptVolumeView } from "../../engine/index.ts";
import { groupName } from "./names.ts";

export const volumeName = z.string().min(1).max(255);

export const volumeView = z
  .strictObject({
    group: z.string().describe("Of the tasks that may name it."),
    name: volumeName,
    createdMs: z.number().describe("Milliseconds since the epoch."),
    usedBytes: z.number().nullable().describe("On the disk. null: it was not asked for, or cannot be measured."),
    tasks: z.array(z.string()).describe("Ids of the tasks that name it, also of those that have stopped and can still be looked at."),
  })
  .meta({ id: "Volume" }) satisfies z.ZodType<KeptVolumeView>;

const isOne = ({ names, unused }: { readonly names?: unknown; readonly unused?: unknown }) =>
  (names === undefined) !== (unused === undefined);

export const volumeRemoval = z
  .strictObject({
    group: groupName.default("default"),
    names: z.array(volumeName).min(1).optional().describe("All of them or none: one that is not there or that a task names is an error."),
    unused: z.literal(true).optional().describe("All of the group that no task names."),
  })
  .refine(isOne, "use one of names and unused");
