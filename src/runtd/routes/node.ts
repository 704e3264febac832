import { z } from "zod";
import type { NodeView } from "../../engine/index.ts";
import type { HostFacts } from "../../pod/index.ts";
import { hostFacts } from "../host-facts.ts";
import { jsonRoute } from "../http/route.ts";

const condition = z.strictObject({
  type: z.enum([
    "StoreReadOnly",
    "RecordsDamaged",
    "Orphans",
    "NotLookedUp",
    "Overcommitted",
    "NetworkBroken",
    "NoResolver",
    "NotStopped",
    "NotRemoved",
  ]),
  message: z.string(),
});

const share = z.strictObject({ capacity: z.number(), used: z.number() });

const ledger = z.strictObject({
  cpus: share,
  memoryBytes: share,
  ports: z.array(z.string()).describe("Of the host, as 8080/tcp."),
  waiting: z.int().describe("Tasks that wait for room."),
});

const host = z.strictObject({
  name: z.string(),
  addresses: z.array(z.string()).describe("The first one is that of pods in the network of the host."),
  architecture: z.string(),
  kernel: z.string(),
  version: z.string().describe("Of the daemon."),
  measuredMs: z.int(),
  memory: z.strictObject({ bytes: z.number(), availableBytes: z.number() }),
  disk: z
    .strictObject({ bytes: z.number(), availableBytes: z.number(), files: z.number(), freeFiles: z.number() })
    .describe("Where the state of the daemon is."),
  processes: z.strictObject({ most: z.int(), used: z.int() }).describe("With threads."),
});

/** The host and the daemon. */
const nodeView = z
  .strictObject({
    bootId: z.string(),
    epoch: z.int().describe("One more with each start of the daemon in this state directory."),
    lastSequence: z.int().describe("Of the last event; 0: there was none."),
    tasks: z.int(),
    ledger: ledger.describe("What tasks have of the host."),
    conditions: z.array(condition).describe("What is wrong with the host or the store."),
    host: host.describe("What it has, measured now."),
  })
  .meta({ id: "Node" }) satisfies z.ZodType<NodeView & { readonly host: HostFacts }>;

export const getNode = jsonRoute({
  method: "get",
  path: "/v1/node",
  operation: "getNode",
  access: "read",
  summary: "The host and the daemon",
  answer: { status: 200, description: "What is known", schema: nodeView },
  handle: ({ engine, stateDir }) => ({ ...engine.node, host: hostFacts(stateDir) }),
});
