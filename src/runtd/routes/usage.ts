import { z } from "zod";
import type { UsageView } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";
import { groupName } from "../schemas/names.ts";

const count = z.number().nullable();

const usage = z
  .strictObject({
    task: z.string().describe("Its id."),
    group: z.string(),
    name: z.string().describe("Of the task."),
    container: z.string(),
    atMs: z.number().describe("Milliseconds since the epoch."),
    clockMs: z
      .number()
      .describe("Milliseconds of a clock that nobody sets: for the time between two answers, also of two daemons in one boot."),
    cpuUs: count.describe("Microseconds of processor time in all. null, here and below: the host does not count it."),
    memoryBytes: count,
    memoryLimitBytes: count.describe("null: it has none."),
    processes: count,
    readBytes: count,
    writtenBytes: count,
    oomKills: count.describe("Processes that the kernel has killed for memory."),
  })
  .meta({ id: "Usage" }) satisfies z.ZodType<UsageView>;

export const getUsage = jsonRoute({
  method: "get",
  path: "/v1/usage",
  operation: "getUsage",
  access: "read",
  summary: "What containers that run use, as the kernel counts it",
  query: z.object({ group: groupName.optional().describe("Absent: of every group.") }),
  answer: { status: 200, description: "One for each container", schema: z.strictObject({ usage: z.array(usage) }) },
  handle: async ({ engine, query }) => ({ usage: await engine.usage(query.group) }),
});
