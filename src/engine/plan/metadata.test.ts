import { expect, test } from "vitest";
import { newRecord } from "../model/index.ts";
import { taskSchema } from "../spec/index.ts";
import { metadataOf, wantsMetadata } from "./metadata.ts";

const spec = taskSchema.parse({
  name: "t",
  containers: [
    { name: "a", rootfs: "/r", command: "x", metadata: "/run/self" },
    { name: "b", rootfs: "/r", command: "x" },
  ],
});
const record = newRecord({ id: "g.t.1", group: "g", spec, cgroup: null, at: { bootId: "boot-0", bootMs: 0, wallMs: 0 } });
const one = { container: "a", generation: 2, runtimeId: "id" };

test("E61 only what was asked for: INITIAL until it was started, and the addresses that the task has by then", () => {
  expect(["a", "b"].map((name) => wantsMetadata(record, name))).toEqual([true, false]);
  expect(metadataOf(record, one, undefined)).toMatchObject({
    status: "INITIAL",
    container: { startedAt: null, generation: 2 },
    addresses: [],
  });
  const network = { addresses: ["10.201.0.2/20"] };
  expect(metadataOf({ ...record, network }, one, 0)).toMatchObject({
    status: "READY",
    container: { startedAt: "1970-01-01T00:00:00.000Z" },
    addresses: network.addresses,
  });
});
