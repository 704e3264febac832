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

test("interfaces of the task's own pass no firewall of the host", () => {
  const own = { mode: "isolated", interfaces: [{ parent: "eth0", addresses: ["192.0.2.9/24"] }] };
  const warned = (network: object) => warningsOf([task({}, { network })]);
  expect(warned(own)).toEqual([
    expect.stringMatching(/^t: network: mode isolated: no firewall rule of this host .* CAP_NET_ADMIN can reach/),
  ]);
  expect(warned({ ...own, metadata: true })).toEqual([expect.stringMatching(/what the task sends and gets$/)]);
  expect(warned({})).toEqual([]);
});

test("tasks that have only loopback, because the host lacks something, are named together with it", () => {
  const tasks = [task({}, { name: "a", network: { fallback: "none" } }), task({}, { name: "b", network: {} }), task({}, { name: "c" })];
  expect(warningsOf(tasks)).toEqual([]);
  expect(warningsOf(tasks, "the program ip is not installed")).toEqual([
    "a: network: only loopback, and no way to other pods and machines: the program ip is not installed",
  ]);
  const many = Array.from({ length: 22 }, (_, at) => task({}, { name: `t${at}`, network: { fallback: "none" } }));
  expect(warningsOf(many, "x")).toEqual([expect.stringMatching(/^t0, .*, t19 and 2 more: network: /)]);
});

test("what the kernel takes as it is has none", () => {
  expect(warningsOf([task({ memory: 256 * 1024, cpuShares: 2 }, { memory: "1Mi" })])).toEqual([]);
});
