import { expect, test } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { deriveConfig } from "../index.ts";
import { findAll, roleOf, sandboxOf } from "./sandbox.ts";

const CRI = "io.kubernetes.cri";
const MIB = 1024 * 1024;

function sandbox(annotations: Record<string, string>, more: Partial<Spec> = {}) {
  return sandboxOf(deriveConfig({ ociVersion: "1.0.0", root: { path: "rootfs" }, annotations, ...more }, { bundle: "/b" }));
}
const limited = (resources: NonNullable<Spec["linux"]>["resources"]) => ({ linux: { resources } });
const pod = (sizes: Record<string, string>) => ({
  [`${CRI}.container-type`]: "sandbox",
  [`${CRI}.sandbox-id`]: "p",
  ...Object.fromEntries(Object.entries(sizes).map(([name, value]) => [`${CRI}.sandbox-${name}`, value])),
});

test.each([
  ["containerd", "io.kubernetes.cri.container-type", "io.kubernetes.cri.sandbox-id"],
  ["cri-o", "io.kubernetes.cri-o.ContainerType", "io.kubernetes.cri-o.SandboxID"],
  ["dockershim", "io.kubernetes.docker.type", "io.kubernetes.sandbox.id"],
])("K2, K3: a container as %s makes it", (manager, typeKey, idKey) => {
  expect(sandbox({ [typeKey]: "container", [idKey]: "p1" })).toEqual({
    type: "container",
    manager,
    id: "p1",
    from: [`/annotations/${typeKey}`, `/annotations/${idKey}`],
  });
});

test("K26: without annotations it is a single container, which is worth a word when it has limits", () => {
  expect(sandbox({})).toBeUndefined();
  expect(sandbox({}, limited({ memory: { limit: 64 * MIB } }))).toEqual({
    type: "single",
    size: { cpus: 0, memoryMiB: 64, machine: { vcpus: 1, memoryMiB: 2112 }, from: ["/linux/resources/memory/limit"] },
    from: [],
  });
});

test("K27: the id of the first manager that names one", () => {
  expect(
    sandbox({ "io.kubernetes.docker.type": "podsandbox", [`${CRI}.sandbox-id`]: "one", "io.kubernetes.sandbox.id": "two" }),
  ).toMatchObject({
    type: "sandbox",
    manager: "dockershim",
    id: "one",
  });
});

test("K36: a sandbox is as large as its annotations say, and its own limits do not count", () => {
  const sizes = { "cpu-quota": "150000", "cpu-period": "100000", "cpu-shares": "1536", memory: String(192 * MIB) };
  expect(sandbox(pod(sizes), limited({ memory: { limit: 5 * MIB } }))?.size).toEqual({
    cpus: 1.5,
    memoryMiB: 192,
    machine: { vcpus: 3, memoryMiB: 2240 },
    from: ["cpu-period", "cpu-quota", "cpu-shares", "memory"].map((name) => `/annotations/${CRI}.sandbox-${name}`),
  });
});

test.each([
  ["nothing is said", {}, undefined],
  ["a pod that asks for nothing", { "cpu-quota": "0", "cpu-period": "100000", "cpu-shares": "2", memory: "0" }, [0, 0]],
  ["no quota, but shares", { "cpu-quota": "-1", "cpu-period": "100000", "cpu-shares": "1536" }, [2, 0]],
  ["no period", { "cpu-quota": "150000" }, [0, 0]],
  ["what is not a number counts as 0", { "cpu-quota": "1e5", "cpu-period": "100000", memory: "64Mi" }, [0, 0]],
  ["what the field cannot hold counts as 0", { memory: "18446744073709551616" }, [0, 0]],
  ["memory -1", { memory: "-1" }, [0, 0]],
  ["the highest number is no limit", { memory: "9223372036854771712" }, [0, 0]],
  ["just under a MiB", { memory: String(MIB - 1) }, [0, 0]],
])("K36: the size of a pod: %s", (_, sizes, expected) => {
  const size = sandbox(pod(sizes as Record<string, string>))?.size;
  expect(size && [size.cpus, size.memoryMiB]).toEqual(expected);
});

test.each([
  ["a quota with its period", { cpu: { quota: 50_000, period: 100_000 } }, [0.5, 0, 2]],
  ["a quota alone is none", { cpu: { quota: 50_000 } }, undefined],
  ["no limit", { cpu: { quota: -1, period: 100_000 }, memory: { limit: -1 } }, undefined],
  ["CPUs that it is bound to", { cpu: { cpus: "0-2,2" } }, [0, 0, 4]],
  ["a list that only the kernel understands", { cpu: { cpus: "0-31:2/4" } }, undefined],
  ["huge pages are memory too", { memory: { limit: MIB }, hugepageLimits: [{ pageSize: "2MB", limit: 4 * MIB }] }, [0, 5, 1]],
])("K36: the size of a single container: %s", (_, resources, expected) => {
  const size = sandbox({}, limited(resources))?.size;
  expect(size && [size.cpus, size.memoryMiB, size.machine.vcpus]).toEqual(expected);
});

test.each([
  ["a tmpfs that says so", { type: "tmpfs", options: ["nosuid", "size=1m"] }, { bytes: MIB }],
  ["in other units", { type: "tmpfs", options: ["size=65536K"] }, { bytes: 64 * MIB }],
  ["in bytes", { type: "tmpfs", options: ["size=4096"] }, { bytes: 4096 }],
  ["the last word counts", { type: "tmpfs", options: ["size=1m", "size=2m"] }, { bytes: 2 * MIB }],
  ["the sandbox's own", { type: "bind", source: "/run/p/shm", options: ["rbind"] }, { source: "/run/p/shm" }],
  ["a tmpfs that does not say", { type: "tmpfs" }, undefined],
  ["a share of the memory", { type: "tmpfs", options: ["size=50%"] }, undefined],
])("K31: /dev/shm: %s", (_, mount, expected) => {
  const mounts = [{ destination: "/dev/shm/", source: "shm", ...mount }];
  expect(sandbox(pod({}), { mounts } as Partial<Spec>)?.shm).toEqual(expected);
});

test("K31: no mount at /dev/shm is none, and the last one counts", () => {
  expect(sandbox(pod({}), { mounts: [{ destination: "/dev/shm/x", type: "tmpfs", options: ["size=1m"] }] })?.shm).toBeUndefined();
  const mounts = ["1m", "2m"].map((size) => ({ destination: "/dev/shm", type: "tmpfs", source: "shm", options: [`size=${size}`] }));
  expect(sandbox(pod({}), { mounts })?.shm).toEqual({ bytes: 2 * MIB });
});

test.each([
  ["containerd", "io.kubernetes.cri.container-type", "sandbox", "sandbox"],
  ["containerd", "io.kubernetes.cri.container-type", "container", "container"],
  ["cri-o", "io.kubernetes.cri-o.ContainerType", "sandbox", "sandbox"],
  ["cri-o", "io.kubernetes.cri-o.ContainerType", "container", "container"],
  ["dockershim", "io.kubernetes.docker.type", "podsandbox", "sandbox"],
  ["dockershim", "io.kubernetes.docker.type", "container", "container"],
])("K2, K4: %s says %s = %s", (manager, key, word, role) => {
  const [found] = findAll({ other: "x", [key]: word }, "typeKey");
  expect([found?.manager.name, found?.key, roleOf(found?.value ?? "")]).toEqual([manager, key, role]);
});

test.each([
  ["containerd", "io.kubernetes.cri.sandbox-id"],
  ["cri-o", "io.kubernetes.cri-o.SandboxID"],
  ["dockershim", "io.kubernetes.sandbox.id"],
])("K3: %s names the sandbox in %s", (manager, key) => {
  expect(findAll({ [key]: "s1" }, "idKey").map((found) => [found.manager.name, found.value])).toEqual([[manager, "s1"]]);
});

test("K2: the first of them counts, in the order of the table and not of the file", () => {
  const annotations = { "io.kubernetes.docker.type": "container", "io.kubernetes.cri.container-type": "sandbox" };
  expect(findAll(annotations, "typeKey").map(({ value }) => value)).toEqual(["sandbox", "container"]);
});

test("what is inherited by every object is no annotation, and no word", () => {
  expect(findAll({}, "typeKey")).toEqual([]);
  expect(findAll(null, "idKey")).toEqual([]);
  expect(roleOf("constructor")).toBeUndefined();
  expect(roleOf("Sandbox")).toBeUndefined();
});
