import { z } from "zod";
import { groupName } from "./names.ts";

/** The body of a request with a task file. */
export const fileOfTasks = z.strictObject({
  text: z.string().describe("YAML or JSON: one task for each document, or pods with what they refer to."),
  group: groupName.default("default"),
});

/** In bytes. */
const LONGEST_PATH = 4096;

/** Where a file is that tasks are of. */
export const originOfFile = {
  from: z
    .string()
    .min(1)
    .max(LONGEST_PATH)
    .optional()
    .describe(
      "Absolute path of the file, or of the directory of the Compose project. Tasks that another one has made are refused. Without it nothing is compared.",
    ),
  isProject: z
    .boolean()
    .default(false)
    .describe("The group is a Compose project, and belongs to the directory `from` with its volumes and networks."),
};

/** Like fileOfTasks, with the options of `apply`. */
export const fileToApply = fileOfTasks.extend({
  prune: z.boolean().default(false).describe("Remove tasks of the group that are not in the file."),
  ...originOfFile,
  takeOver: z.boolean().default(false).describe("What another file or project has made belongs to this one from now on."),
  networks: z
    .array(z.string().min(1))
    .max(1000)
    .optional()
    .describe("Networks of the whole host that have to be there: a task is in each. Otherwise it is an error."),
  ignoreClusterFields: z
    .boolean()
    .default(false)
    .describe("What a Kubernetes document says to a cluster only is left out, and told of as a warning. Otherwise it is an error."),
  rerun: z.boolean().default(false).describe("Run one-shots again that have succeeded."),
});
