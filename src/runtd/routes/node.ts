import { z } from "zod";
import type { NodeView } from "../../engine/index.ts";
import type { HostFacts } from "../../pod/index.ts";
import { hostFacts } from "../host-facts.ts";
import { jsonRoute } from "../http/route.ts";
import { HIDDEN_REASON } from "./events.ts";

const condition = z.strictObject({
  type: z.enum([
    "StoreReadOnly",
    "RecordsDamaged",
    "Orphans",
    "NotLookedUp",
    "Overcommitted",
    "NetworkBroken",
    "NoResolver",
    "PacketFilterChanged",
    "NotStopped",
    "NotRemoved",
    "WatchFailed",
    "Drifted",
  ]),
  message: z.string(),
});

const share = z.strictObject({ capacity: z.number(), used: z.number() });

const ledger = z.strictObject({
  cpus: share,
  memoryBytes: share,
  ports: z.array(z.string()).describe("Ports of the host, such as 8080/tcp."),
  waiting: z.int().describe("Number of tasks that wait for capacity."),
});

const host = z.strictObject({
  name: z.string(),
  addresses: z.array(z.string()).describe("The first one is the address of pods in the network of the host."),
  architecture: z.string(),
  kernel: z.string(),
  version: z.string().describe("Version of the daemon."),
  measuredMs: z.int(),
  memory: z.strictObject({ bytes: z.number(), availableBytes: z.number() }),
  disk: z
    .strictObject({ bytes: z.number(), availableBytes: z.number(), files: z.number(), freeFiles: z.number() })
    .describe("The file system with the state of the daemon."),
  processes: z.strictObject({ most: z.int(), used: z.int() }).describe("Processes including threads."),
});

/** The host and the daemon. */
const nodeView = z
  .strictObject({
    bootId: z.string(),
    epoch: z.int().describe("Increments with each start of the daemon in this state directory."),
    lastSequence: z.int().describe("Sequence number of the last event; 0 if there was none."),
    tasks: z.int(),
    ledger: ledger.describe("Resources of the host that tasks use."),
    conditions: z.array(condition).describe("Problems of the host or the store."),
    host: host.describe("Resources of the host, measured now."),
  })
  .meta({ id: "Node" }) satisfies z.ZodType<NodeView & { readonly host: HostFacts }>;

export const getNode = jsonRoute({
  method: "get",
  path: "/v1/node",
  operation: "getNode",
  access: "read",
  summary: "Show the host and the daemon",
  answer: { status: 200, description: "The host and the daemon", schema: nodeView },
  handle({ engine, stateDir, isAdmin }) {
    const { conditions, ...node } = engine.node;
    const shown = ({ type, message }: NodeView["conditions"][number]) => ({
      type,
      message: type === "WatchFailed" && !isAdmin ? HIDDEN_REASON : message,
    });
    return { ...node, conditions: conditions.map(shown), host: hostFacts(stateDir) };
  },
});
