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

test("E61 the ports that are forwarded to it, its image by digest, and the limits of container and task", () => {
  const network = {
    ports: [
      { container: 80, host: 18_080 },
      { container: 53, protocol: "udp", address: "127.0.0.1" },
    ],
  };
  const containers = [{ name: "a", image: "oci:/i:v1", metadata: "/run/self", cpus: 0.5, memory: "64Mi", pids: 9 }];
  const limited = taskSchema.parse({ name: "t", network, cpus: 2, containers });
  const made = newRecord({ id: "g.t.1", group: "g", spec: limited, cgroup: null, at: { bootId: "boot-0", bootMs: 0, wallMs: 0 } });
  const image = { reference: "oci:/i:v1", digest: "sha256:1", manifest: "sha256:2", config: null, via: "pulled" } as const;
  const [container] = made.containers;
  const record = { ...made, containers: [{ ...container!, image: { ...image, stopSignal: null, healthCheck: null } }] };
  expect(metadataOf(record, one, 0)).toMatchObject({
    ports: [
      { port: 18_080, protocol: "tcp", containerPort: 80 },
      { port: 53, protocol: "udp", containerPort: 53, address: "127.0.0.1" },
    ],
    image: { reference: "oci:/i:v1", digest: "sha256:1" },
    limits: { container: { cpus: 0.5, memory: 64 * 1024 ** 2, pids: 9 }, task: { cpus: 2 } },
  });
});
