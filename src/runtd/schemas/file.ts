import { z } from "zod";
import { groupName } from "./names.ts";

/** Body of a request that brings a file of tasks. */
export const fileOfTasks = z.strictObject({
  text: z.string().describe("YAML or JSON: one task for each document."),
  group: groupName.default("default"),
});
