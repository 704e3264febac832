import { expect, test } from "vitest";
import { printSandbox } from "./print-sandbox.ts";

test("a sandbox, with its size and the place it is said at, within 100 columns", () => {
  const id = "5f2c".repeat(16);
  const text = printSandbox({
    type: "sandbox",
    manager: "containerd",
    id,
    size: { cpus: 4 / 3, memoryMiB: 192, machine: { vcpus: 3, memoryMiB: 2240 }, from: ["/annotations/a", "/annotations/b"] },
    shm: { bytes: 67_108_864 },
    from: ["/annotations/io.kubernetes.cri.container-type"],
  });
  expect(text.split("\n").map((line) => line.replace(/ {2,}/g, " | ").trim())).toEqual([
    `SANDBOX sandbox ${id} (containerd)`,
    "| /annotations/io.kubernetes.cri.container-type",
    "| may use 1.333 CPUs, 192 MiB | /annotations/a",
    "| as a machine: 3 vCPUs, 2240 MiB (1 vCPU and 2048 MiB of its own)",
    "| /dev/shm of 67108864 bytes",
    "",
  ]);
  for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(100);
});

test.each([
  [
    "a container",
    { type: "container", manager: "cri-o", id: "p", from: ["/x"], shm: { source: "/run/p/shm" } },
    ["container of sandbox p (cri-o)", "/dev/shm is /run/p/shm"],
  ],
  ["without an id", { type: "container", manager: "cri-o", from: ["/x"] }, ["container without an id (cri-o)"]],
  [
    "no limits",
    { type: "single", from: [], size: { cpus: 0, memoryMiB: 0, machine: { vcpus: 1, memoryMiB: 2048 }, from: [] } },
    ["single container", "may use any CPU time, any memory"],
  ],
  [
    "one CPU",
    { type: "single", from: [], size: { cpus: 1, memoryMiB: 1, machine: { vcpus: 2, memoryMiB: 2049 }, from: [] } },
    ["may use 1 CPU, 1 MiB"],
  ],
] as const)("%s", (_, sandbox, words) => {
  for (const word of words) expect(printSandbox(sandbox)).toContain(word);
});
