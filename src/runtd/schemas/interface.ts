/** Interfaces that others provide, as the API shows them. */
import { z } from "zod";
import type { InterfaceView } from "../../engine/index.ts";

export const interfaceName = z
  .string()
  .regex(/^[^\s/:]{1,15}$/, "is no name of an interface")
  .describe("On the host.");

/** As long as any duration. */
const LONGEST_MS = 3650 * 86_400_000;

export const attachment = z.strictObject({
  name: interfaceName,
  forMs: z.int().min(1).max(LONGEST_MS).default(300_000).describe("How long it waits for a task."),
});

export const interfaceView = z
  .strictObject({
    name: interfaceName,
    attachedMs: z.number().describe("Milliseconds since the epoch."),
    leftMs: z.number().nullable().describe("How long it still waits for a task. null: one has taken it."),
    task: z.string().nullable().describe("Id of the task that has taken it."),
  })
  .meta({ id: "Interface" }) satisfies z.ZodType<InterfaceView>;
