import { z } from "zod";
import { groupName } from "./names.ts";

/** The body of a request with a task file. */
export const fileOfTasks = z.strictObject({
  text: z.string().describe("YAML or JSON: one task for each document, or pods with the objects that they refer to."),
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
      "Absolute path of the file, or of the directory of the Compose project. Tasks of another path are refused. Without it, the daemon does not compare paths.",
    ),
  isProject: z
    .boolean()
    .default(false)
    .describe("The group is a Compose project. The group, its volumes and its networks belong to the directory `from`."),
};

/** Like fileOfTasks, with the options of `apply`. */
export const fileToApply = fileOfTasks.extend({
  prune: z.boolean().default(false).describe("Remove tasks of the group that are not in the file."),
  ...originOfFile,
  takeOver: z.boolean().default(false).describe("Tasks that another file or project has made belong to this one from now on."),
  networks: z
    .array(z.string().min(1))
    .max(1000)
    .optional()
    .describe("Networks of the host that must already have a task. Otherwise the request is an error."),
  ignoreClusterFields: z
    .boolean()
    .default(false)
    .describe("Ignore fields of Kubernetes documents that only a cluster can use, with a warning. Otherwise they are errors."),
  rerun: z.boolean().default(false).describe("Run one-shots again even if they have succeeded."),
});
