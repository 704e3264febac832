import { expect, test } from "vitest";
import { taskSchema } from "../spec/index.ts";
import { limitsOf } from "./launch.ts";
import { refusedByHost } from "./refused.ts";

const networks = { lacks: undefined };
const container = { name: "c", rootfs: "/r", command: "x" };
const task = taskSchema.parse({ name: "t", containers: [container, { ...container, name: "d", hugepages: { "2MB": "4Mi", "1GB": 0 } }] });
const refused = (hugepages: readonly string[]) =>
  refusedByHost(task, { hasTaskLimits: true, runtimes: {}, hugepages, cgroup: "/runtd", networks });

test("limits of huge pages are refused by name where the kernel has no such pages, or does not limit them", () => {
  expect(refused(["1GB", "2MB"])).toEqual([]);
  expect(refused(["2MB"])).toEqual([{ pointer: "/containers/1/hugepages/1GB", message: "this host has no pages of 1GB: only of 2MB" }]);
  expect(refused([]).map(({ pointer }) => pointer)).toEqual(["/containers/1/hugepages/2MB", "/containers/1/hugepages/1GB"]);
  expect(refused([])[0]!.message).toContain("no controller hugetlb");
});

test("limits of huge pages for a whole task are refused where its containers' are, and where systemd has none", () => {
  const whole = taskSchema.parse({ name: "t", hugepages: { "2MB": "4Mi" }, containers: [container] });
  const of = (host: object) =>
    refusedByHost(whole, { ...{ hasTaskLimits: true, runtimes: {}, hugepages: ["2MB"], cgroup: "/runtd", networks }, ...host }).map(
      ({ pointer }) => pointer,
    );
  expect(of({})).toEqual([]);
  expect(of({ hugepages: ["1GB"] })).toEqual(["/hugepages/2MB"]);
  expect(of({ cgroup: undefined })).toEqual(["/hugepages"]);
  expect(of({ hasTaskLimits: false })).toEqual(["/hugepages"]);
});

test("a container has them as limits of the runtime", () => {
  expect(limitsOf(task, task.containers[0]!)).toEqual({});
  expect(limitsOf(task, task.containers[1]!)).toEqual({ hugepages: { "2MB": 4_194_304, "1GB": 0 } });
});

test("a cgroup above that of a task is neither in that of the engine nor managed by systemd", () => {
  const withParent = (cgroupParent: string, host: object = {}) =>
    refusedByHost(taskSchema.parse({ name: "t", cgroupParent, containers: [container] }), {
      ...{ hasTaskLimits: true, runtimes: {}, hugepages: [], cgroup: "/runtd", networks },
      ...host,
    }).map(({ pointer, message }) => `${pointer}: ${message}`);
  for (const parent of ["/web", "web", "web/front", "/runtd2"]) expect(withParent(parent)).toEqual([]);
  for (const parent of ["/runtd", "/runtd/effects"])
    expect(withParent(parent)[0]).toMatch(/^\/cgroupParent: \/runtd.* is in the cgroup of the engine/);
  for (const host of [{ cgroup: undefined }, { hasTaskLimits: false }])
    expect(withParent("web", host)[0]).toContain("tasks have no cgroups of their own");
  for (const parent of ["/", "a/../b", "a//b"])
    expect(taskSchema.safeParse({ name: "t", cgroupParent: parent, containers: [container] }).success).toBe(false);
});
