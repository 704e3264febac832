import { expect, test } from "vitest";
import { cpusOf, cpusOfPod, type Demand, machineFor, toMiB, toNumber } from "./size.ts";

const MIB = 2n ** 20n;
const demand = (quota: bigint, period: bigint, memory = 0n, cpuset: readonly number[] = []): Demand => ({
  cpus: cpusOf({ quota, period }),
  cpuset,
  memory,
});
const bare = { vcpus: 0, memoryMiB: 0 };

test.each([
  ["a half", 50_000n, 100_000n, 0.5],
  ["one and a half", 150_000n, 100_000n, 1.5],
  ["no limit", -1n, 100_000n, 0],
  ["none set", 0n, 100_000n, 0],
  ["a period of nothing", 100_000n, 0n, 0],
  ["no period", 100_000n, undefined, 0],
  ["no quota", undefined, 100_000n, 0],
  ["as large as the fields", 2n ** 63n - 1n, 2n ** 64n - 1n, 0.5],
])("K36: CPUs of a quota: %s", (_, quota, period, cpus) => {
  expect(toNumber(cpusOf({ quota, period }))).toBe(cpus);
});

test.each([
  ["no quota falls back to shares, rounded up", { quota: -1n, period: 100_000n, shares: 1025n }, 2],
  ["the shares of a pod that asks for nothing are no CPU, without a quota of -1", { quota: 0n, period: 100_000n, shares: 2n }, 0],
  ["a quota counts before shares", { quota: 25_000n, period: 100_000n, shares: 4096n }, 0.25],
  ["nothing", {}, 0],
])("K36: CPUs of a pod: %s", (_, time, cpus) => {
  expect(toNumber(cpusOfPod(time))).toBe(cpus);
});

test("K36: rounded up once, after the sum", () => {
  const half = demand(50_000n, 100_000n);
  expect(machineFor([half, half], bare).vcpus).toBe(1);
  expect(machineFor([half, half]).vcpus).toBe(2);
  expect(machineFor([half, half, demand(1n, 100_000n)], bare).vcpus).toBe(2);
});

test("K36: thirds and tenths add up to what they are", () => {
  const third = demand(33_000n, 99_000n);
  expect(machineFor([third, third, third], bare).vcpus).toBe(1);
  const tenth = demand(10_000n, 100_000n);
  expect(
    machineFor(
      [...Array(10)].map(() => tenth),
      bare,
    ).vcpus,
  ).toBe(1);
  // Floats would make 0.30000000000000004 of this and round it up.
  expect(machineFor([tenth, demand(20_000n, 100_000n), demand(70_000n, 100_000n)], bare).vcpus).toBe(1);
});

test("K36: containers without a limit add nothing", () => {
  expect(machineFor([demand(-1n, 100_000n), demand(150_000n, 100_000n, 64n * MIB)])).toEqual({ vcpus: 3, memoryMiB: 2112 });
  expect(machineFor([])).toEqual({ vcpus: 1, memoryMiB: 2048 });
  expect(machineFor([], bare)).toEqual({ vcpus: 1, memoryMiB: 0 });
});

test("K36: CPUs that containers are bound to count once, and only where there is no other limit", () => {
  expect(machineFor([demand(-1n, 0n, 0n, [0, 1]), demand(-1n, 0n, 0n, [1, 2])], bare).vcpus).toBe(3);
  expect(machineFor([demand(-1n, 0n, 0n, [0, 1, 2, 3]), demand(50_000n, 100_000n)], bare).vcpus).toBe(1);
});

test("K36: bytes are summed before they are MiB", () => {
  const odd = demand(0n, 0n, MIB + MIB / 2n);
  expect(machineFor([odd, odd], bare).memoryMiB).toBe(3);
  expect(toMiB(MIB - 1n)).toBe(0);
});
