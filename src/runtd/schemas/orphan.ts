import { z } from "zod";
import type { OrphanView } from "../../engine/index.ts";

/** Executors that exist on the host but not in the store. */
export const orphanView = z
  .strictObject({
    id: z.string().describe("Of the container, in the runtime."),
    task: z.string().nullable().describe("Id of its task, as its annotations say it. null, as the rest: this engine has not made it."),
    group: z.string().nullable(),
    name: z.string().nullable(),
    container: z.string().nullable(),
    generation: z.int().nullable(),
    isRunning: z.boolean(),
  })
  .meta({ id: "Orphan" }) satisfies z.ZodType<OrphanView>;
