import { expect, test } from "vitest";
import { taskSchema, warningsOf } from "./index.ts";

const task = (fields: object, further: object = {}) =>
  taskSchema.parse({ name: "t", ...further, containers: [{ name: "a", rootfs: "/r", command: "x", ...fields }] });

test.each([
  [{ memory: 1 }, "t: container a: memory: with 1 bytes no container starts: it needs at least 256 KiB, and its program more"],
  [{ cpuShares: 0 }, "t: container a: cpuShares: the kernel does not take 0; the container gets 2"],
  [{ cpuShares: 999_999 }, "t: container a: cpuShares: the kernel does not take 999999; the container gets 262144"],
])("%j is accepted with a warning", (fields, text) => {
  expect(warningsOf([task(fields)])).toEqual([text]);
});

test("a limit of the whole task has the same floor", () => {
  expect(warningsOf([task({}, { memory: 1000 })])).toEqual([expect.stringMatching(/^t: memory: with 1000 bytes/)]);
});

test("what the kernel takes as it is has none", () => {
  expect(warningsOf([task({ memory: 256 * 1024, cpuShares: 2 }, { memory: "1Mi" })])).toEqual([]);
});
