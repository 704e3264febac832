/** Names in paths and queries. */
import { z } from "zod";

/** The name of a group becomes part of container ids. */
export const groupName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9])?$/, "use 1 to 63 of A-Z a-z 0-9 _ -, with a letter or digit at both ends");

const LONGEST_NAME = 512;

/** The parameter `{name}` of a path. */
export const taskParams = z.object({
  name: z
    .string()
    .min(1)
    .max(LONGEST_NAME)
    .describe("Name of a task in the group, or its id. Read requests also accept an address of its network."),
});

export const inGroup = z.object({ group: groupName.default("default") });
