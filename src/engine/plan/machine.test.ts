import { expect, test } from "vitest";
import { parseTasks } from "../spec/index.ts";
import { memberAnnotations, sandboxAnnotations } from "./machine.ts";

const MIB = 1024 ** 2;

const sizeOf = (task: object, ...containers: readonly object[]) => {
  const all = containers.map((one, index) => ({ name: `c${index}`, rootfs: "/r", command: "x", ...one }));
  const { tasks, findings } = parseTasks(JSON.stringify({ name: "t", ...task, containers: all }));
  expect(findings).toEqual([]);
  const size = Object.entries(sandboxAnnotations(tasks[0]!, "id")).filter(([key]) => key.includes("sandbox-cpu") || key.includes("memory"));
  return Object.fromEntries(size.map(([key, value]) => [key.replace("io.kubernetes.cri.sandbox-", ""), Number(value)]));
};

test("P7: a machine is as large as its containers may be together", () => {
  expect(sizeOf({}, {}, {})).toEqual({});
  expect(sizeOf({ memory: "64Mi", cpus: 0.5 }, { memory: "32Mi" }, {})).toEqual({
    memory: 64 * MIB,
    "cpu-quota": 50_000,
    "cpu-period": 100_000,
  });
  expect(sizeOf({}, { memory: "32Mi", cpus: 0.5 }, { memory: "16Mi", cpus: 1 })).toEqual({
    memory: 48 * MIB,
    "cpu-quota": 150_000,
    "cpu-period": 100_000,
  });
});

test("P7: a container without a limit counts with its reservation, or with what a machine has of which nothing is said", () => {
  expect(sizeOf({}, { memory: "32Mi" }, {}).memory).toBe((32 + 160) * MIB);
  expect(sizeOf({}, { memoryReservation: "512Mi" }, {}).memory).toBe((512 + 160) * MIB);
  expect(sizeOf({}, { cpus: 2 }, {})["cpu-quota"]).toBe(200_000);
});

test("E59: the sandbox boots the machine, and the others say whose it is", () => {
  expect(sandboxAnnotations(parseTasks("{ name: t, containers: [{ name: c, bundle: /b }] }").tasks[0]!, "id")).toEqual({
    "io.kubernetes.cri.container-type": "sandbox",
    "io.kubernetes.cri.sandbox-id": "id",
  });
  expect(memberAnnotations("id")).toEqual({ "io.kubernetes.cri.container-type": "container", "io.kubernetes.cri.sandbox-id": "id" });
});
