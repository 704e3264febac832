import { z } from "zod";
import { groupName } from "./names.ts";

/** The body of a request with a task file. */
export const fileOfTasks = z.strictObject({
  text: z.string().describe("YAML or JSON: one task for each document, or pods with the ConfigMaps and Secrets that they use."),
  group: groupName.default("default"),
});

/** Like fileOfTasks, with the options of `apply`. */
export const fileToApply = fileOfTasks.extend({
  prune: z.boolean().default(false).describe("Remove tasks of the group that are not in the file."),
  rerun: z.boolean().default(false).describe("Run one-shots again that have succeeded."),
});
