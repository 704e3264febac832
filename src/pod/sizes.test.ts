import { expect, test } from "vitest";
import { parseFile } from "./index.ts";
import { parseSizes, sizeFor } from "./sizes.ts";

const MIB = 2 ** 20;
const steps = (from: number, to: number) => Array.from({ length: (to - from) / 1024 + 1 }, (_, index) => (from + index * 1024) * MIB);
/** Sizes in shares of a CPU, as a cloud provider counts them: 1024 are one CPU. */
const SIZES = [
  { cpu: 4096, memory: steps(8192, 30_720) },
  { cpu: 256, memory: [512 * MIB, ...steps(1024, 2048)] },
  { cpu: 512, memory: steps(1024, 4096) },
  { cpu: 1024, memory: steps(2048, 8192) },
  { cpu: 2048, memory: steps(4096, 16_384) },
];
const size = (cpu: number, mebibytes: number) => {
  const found = sizeFor({ cpu, memory: mebibytes * MIB }, SIZES);
  return found && [found.cpu, found.memory / MIB];
};

test("P8 the smallest size that holds both, with the memory in steps; none is told", () => {
  expect(size(256, 512)).toEqual([256, 512]);
  expect(size(256, 600)).toEqual([256, 1024]);
  expect(size(256, 3000)).toEqual([512, 3072]);
  expect(size(0, 0)).toEqual([256, 512]);
  expect(size(257, 1)).toEqual([512, 1024]);
  expect(size(4096, 30_720)).toEqual([4096, 30_720]);
  expect(size(5000, 1)).toBeUndefined();
  expect(size(256, 31_000)).toBeUndefined();
  expect(sizeFor({ cpu: 1, memory: 1 }, [])).toBeUndefined();
});

test("P8 sizes are read as a host writes them", () => {
  expect(parseSizes('[{ "cpu": "250m", "memory": ["512Mi", "1Gi"] }, { "cpu": 1, "memory": ["2Gi"] }]')).toEqual([
    { cpu: 250, memory: [512 * MIB, 1024 * MIB] },
    { cpu: 1000, memory: [2048 * MIB] },
  ]);
  for (const bad of ["", "[]", "{}", '[{ "cpu": 1 }]', '[{ "cpu": "lots", "memory": ["1Gi"] }]']) expect(() => parseSizes(bad)).toThrow();
});

test("P8 the task has the size of its pod; without a size that holds it, the pod is refused with both numbers", () => {
  const sizes = parseSizes('[{ "cpu": "250m", "memory": ["512Mi", "1Gi"] }]');
  const read = (resources: string) =>
    parseFile(
      `apiVersion: v1\nkind: Pod\nmetadata: { name: p, annotations: { runt.dev/rootfs.a: /r } }\nspec:\n  containers:\n  - { name: a, command: [x], resources: ${resources} }\n`,
      { name: "n", cpus: 1, memoryBytes: 1, sizes },
    );
  expect(read("{ requests: { memory: 600Mi } }").tasks[0]).toMatchObject({ cpus: 0.25, memory: 1024 * MIB });
  expect(read("{ limits: { cpu: 100m } }").tasks[0]).toMatchObject({ cpus: 0.25, memory: 512 * MIB });
  expect(read("{ limits: { cpu: 2, memory: 1Mi } }").findings).toMatchObject([
    { pointer: "/spec/containers", message: "needs 2 CPUs and 1 MiB of memory, and no size of this host holds that" },
  ]);
});
