/** Interfaces of the host that somebody else provides for tasks. */
import { z } from "zod";
import type { InterfaceView } from "../../engine/index.ts";
import { jsonRoute } from "../http/route.ts";

/** Interfaces that others provide, as the API shows them. */
const interfaceName = z
  .string()
  .regex(/^[^\s/:]{1,15}$/, "is no name of an interface")
  .describe("On the host.");

/** As long as any duration. */
const LONGEST_MS = 3650 * 86_400_000;

const attachment = z.strictObject({
  name: interfaceName,
  forMs: z.int().min(1).max(LONGEST_MS).default(300_000).describe("How long the interface waits for a task."),
});

const interfaceView = z
  .strictObject({
    name: interfaceName,
    attachedMs: z.number().describe("Milliseconds since the epoch."),
    leftMs: z.number().nullable().describe("Remaining time of the wait for a task. null if a task has taken the interface."),
    task: z.string().nullable().describe("Id of the task that has taken the interface."),
  })
  .meta({ id: "Interface" }) satisfies z.ZodType<InterfaceView>;

export const listInterfaces = jsonRoute({
  method: "get",
  path: "/v1/interfaces",
  operation: "listInterfaces",
  access: "read",
  summary: "List the interfaces that were announced for tasks",
  answer: {
    status: 200,
    description: "The interfaces, in the order of their announcements",
    schema: z.strictObject({ interfaces: z.array(interfaceView) }),
  },
  handle: ({ engine }) => ({ interfaces: engine.interfaces.views() }),
});

export const attachInterface = jsonRoute({
  method: "post",
  path: "/v1/interfaces",
  operation: "attachInterface",
  access: "admin",
  summary: "Announce an interface of the host, so that a task can take it (association: attached)",
  description:
    "If no task takes the interface in time, the daemon forgets it and records an event. A second announcement moves the deadline.",
  body: attachment,
  answer: { status: 200, description: "The announcement is recorded", schema: interfaceView },
  errors: ["interface-in-use", "not-written"],
  handle: async ({ engine, body, caller }) => engine.interfaces.attach(body.name, body.forMs, await caller()),
});

export const detachInterface = jsonRoute({
  method: "delete",
  path: "/v1/interfaces/{name}",
  operation: "detachInterface",
  access: "admin",
  summary: "Withdraw the announcement of an interface",
  params: z.object({ name: interfaceName }),
  answer: { status: 200, description: "The announcement is removed", schema: z.strictObject({ name: z.string() }) },
  errors: ["unknown-interface", "interface-in-use", "not-written"],
  async handle({ engine, params, caller }) {
    await engine.interfaces.detach(params.name, await caller());
    return { name: params.name };
  },
});
