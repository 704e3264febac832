import { z } from "zod";
import type { NodeView } from "../../engine/index.ts";

const condition = z.strictObject({
  type: z.enum(["StoreReadOnly", "RecordsDamaged", "Orphans", "NotLookedUp", "Overcommitted", "NetworkBroken"]),
  message: z.string(),
});

const share = z.strictObject({ capacity: z.number(), used: z.number() });

const ledger = z.strictObject({
  cpus: share,
  memoryBytes: share,
  ports: z.array(z.string()).describe("Of the host, as 8080/tcp."),
  waiting: z.int().describe("Tasks that wait for room."),
});

/** The host and the daemon. */
export const nodeView = z
  .strictObject({
    bootId: z.string(),
    epoch: z.int().describe("One more with each start of the daemon in this state directory."),
    lastSequence: z.int().describe("Of the last event; 0: there was none."),
    tasks: z.int(),
    ledger: ledger.describe("What tasks have of the host."),
    conditions: z.array(condition).describe("What is wrong with the host or the store."),
  })
  .meta({ id: "Node" }) satisfies z.ZodType<NodeView>;
