/** Interfaces of the host that somebody else provides for tasks. */
import { z } from "zod";
import { jsonRoute } from "../http/route.ts";
import { attachment, interfaceName, interfaceView } from "../schemas/interface.ts";

export const listInterfaces = jsonRoute({
  method: "get",
  path: "/v1/interfaces",
  operation: "listInterfaces",
  access: "read",
  summary: "Interfaces that were announced for tasks",
  answer: {
    status: 200,
    description: "In the order in which they were announced",
    schema: z.strictObject({ interfaces: z.array(interfaceView) }),
  },
  handle: ({ engine }) => ({ interfaces: engine.interfaces.views() }),
});

export const attachInterface = jsonRoute({
  method: "post",
  path: "/v1/interfaces",
  operation: "attachInterface",
  access: "admin",
  summary: "Announce an interface of the host, which a task may take (association: attached)",
  description: "One that no task has taken in time is forgotten, with an event. A second announcement moves its deadline.",
  body: attachment,
  answer: { status: 200, description: "It is recorded", schema: interfaceView },
  errors: ["interface-in-use", "not-written"],
  handle: async ({ engine, body, caller }) => engine.interfaces.attach(body.name, body.forMs, await caller()),
});

export const detachInterface = jsonRoute({
  method: "delete",
  path: "/v1/interfaces/{name}",
  operation: "detachInterface",
  access: "admin",
  summary: "Take the announcement of an interface back",
  params: z.object({ name: interfaceName }),
  answer: { status: 200, description: "It is forgotten", schema: z.strictObject({ name: z.string() }) },
  errors: ["unknown-interface", "interface-in-use", "not-written"],
  async handle({ engine, params, caller }) {
    await engine.interfaces.detach(params.name, await caller());
    return { name: params.name };
  },
});
