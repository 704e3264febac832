import { describe, expect, test } from "vitest";
import { clampShares, type Task, type TaskContainer, taskParent, taskResources } from "./task.ts";

describe("the parent's name", () => {
  test.each([
    ["0123abc", "/ecs/0123abc", "ecs-0123abc.slice"],
    ["cluster/0123abc", "/ecs/0123abc", "ecs-0123abc.slice"],
    ["arn:aws:ecs:eu-west-1:1234:task/cluster/0123abc", "/ecs/0123abc", "ecs-0123abc.slice"],
    ["a-b-c", "/ecs/a-b-c", "ecs-a\\x2db\\x2dc.slice"],
    ["a.b_c", "/ecs/a.b_c", "ecs-a.b_c.slice"],
  ])("%s", (identifier, path, slice) => {
    expect(taskParent("ecs", identifier, "cgroupfs")).toBe(path);
    expect(taskParent("ecs", identifier, "systemd")).toBe(slice);
  });

  test.each(["", "/", "a/", "/a", "a//b", "a/../b", "..", ".", "a b", "a\nb", "ä", "a:b", "x".repeat(300)])(
    "%j is no identifier",
    (identifier) => {
      for (const mode of ["cgroupfs", "systemd"] as const) {
        expect(() => taskParent("ecs", identifier, mode)).toThrow("malformed task identifier");
      }
    },
  );

  test("a slice that systemd could not name", () => {
    const identifier = "-".repeat(100);
    expect(taskParent("ecs", identifier, "cgroupfs")).toBe(`/ecs/${identifier}`);
    expect(() => taskParent("ecs", identifier, "systemd")).toThrow("malformed task identifier");
  });
});

describe("what is shared", () => {
  const container = (cpuShares?: bigint, memory?: bigint): TaskContainer => ({
    name: "c",
    ...(cpuShares === undefined ? {} : { cpuShares }),
    ...(memory === undefined ? {} : { memory }),
  });
  const containers = [container(512n)];
  const [QUOTA, SHARES] = [{ quota: 25_000n, period: 100_000n }, { shares: 512n }];
  const [LIMIT, PIDS] = [{ memory: { limit: 67_108_864n } }, { pids: { limit: 16n } }];

  test.each<readonly [Omit<Task, "containers">, object]>([
    [{}, { cpu: SHARES }],
    [{ cpus: 0, memory: 0n, pids: 0n }, { cpu: SHARES }],
    [{ cpus: 0.25 }, { cpu: QUOTA }],
    [{ memory: 64n }, { cpu: SHARES, ...LIMIT }],
    [{ pids: 16n }, { cpu: SHARES, ...PIDS }],
    [
      { cpus: 0.25, memory: 64n },
      { cpu: QUOTA, ...LIMIT },
    ],
    [
      { cpus: 0.25, pids: 16n },
      { cpu: QUOTA, ...PIDS },
    ],
    [
      { memory: 64n, pids: 16n },
      { cpu: SHARES, ...LIMIT, ...PIDS },
    ],
    [
      { cpus: 0.25, memory: 64n, pids: 16n },
      { cpu: QUOTA, ...LIMIT, ...PIDS },
    ],
  ])("%o", (task, expected) => {
    expect(taskResources({ ...task, containers })).toEqual(expected);
  });

  test.each([
    [1 / 3, 100_000n, 33_333n],
    [2, 100_000n, 200_000n],
    [0.5, 20_000n, 10_000n],
    [0.01, 100_000n, 1000n],
  ])("%d CPUs in a period of %d", (cpus, period, quota) => {
    expect(taskResources({ cpus, containers }, period).cpu).toEqual({ quota, period });
  });

  test.each([0.001, -1, Number.NaN, Number.POSITIVE_INFINITY])("%d CPUs are below the kernel's least", (cpus) => {
    if (Number.isNaN(cpus)) expect(taskResources({ cpus, containers }).cpu).toEqual(SHARES);
    else expect(() => taskResources({ cpus, containers })).toThrow(`task CPU limit of ${cpus} is below the least, 0.01`);
  });

  test.each([
    [[0n, 1n, 512n], 516n],
    [[undefined], 2n],
    [Array.from({ length: 300 }, () => 1024n), 262_144n],
    [[], 2n],
  ])("the weights of %o", (weights, shares) => {
    expect(taskResources({ containers: weights.map((weight) => container(weight)) }).cpu).toEqual({ shares });
  });

  test("a container with more memory than the task is refused with both numbers", () => {
    const task = { memory: 64n, containers: [container(undefined, 64n), { ...container(undefined, 128n), name: "big" }] };
    expect(() => taskResources(task)).toThrow("container big: memory limit of 128 MiB is above the task's limit of 64 MiB");
    expect(taskResources({ containers: task.containers })).not.toHaveProperty("memory");
  });

  test("memory that no 64-bit number of bytes holds", () => {
    expect(() => taskResources({ memory: 1n << 43n, containers })).toThrow("is no size");
    expect(taskResources({ memory: (1n << 43n) - 1n, containers }).memory).toEqual({ limit: ((1n << 43n) - 1n) << 20n });
  });
});

test.each([
  [0n, 2n],
  [1n, 2n],
  [2n, 2n],
  [1024n, 1024n],
  [262_144n, 262_144n],
  [999_999n, 262_144n],
])("shares of %d are applied as %d", (requested, applied) => {
  expect(clampShares(requested)).toEqual({ requested, applied });
});
