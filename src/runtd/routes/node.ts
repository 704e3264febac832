import { hostFacts } from "../host-facts.ts";
import { jsonRoute } from "../http/route.ts";
import { nodeView } from "../schemas/node.ts";

export const getNode = jsonRoute({
  method: "get",
  path: "/v1/node",
  operation: "getNode",
  access: "read",
  summary: "The host and the daemon",
  answer: { status: 200, description: "What is known", schema: nodeView },
  handle: ({ engine, stateDir }) => ({ ...engine.node, host: hostFacts(stateDir) }),
});
