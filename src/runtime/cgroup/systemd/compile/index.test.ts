import { describe, expect, test } from "vitest";
import { HYBRID_HOST, UNIFIED_HOST } from "../../../../../test/support/hosts.ts";
import type { ResourceConfig } from "../../../config/index.ts";
import { compileUnit, deviceProperties, type SystemdFacts, type UnitInput } from "./index.ts";
import { parseProperty, printProperty } from "./property.ts";

const SYSTEM: SystemdFacts = { socket: "/run/systemd/private", direct: true, version: () => 252, root: "", user: false };
const USER: SystemdFacts = {
  socket: "/run/user/1000/systemd/private",
  direct: true,
  version: () => 252,
  root: "/user.slice/user-1000.slice/user@1000.service",
  user: true,
};
const NONE: ResourceConfig = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };
const INPUT: UnitInput = { id: "c1", cgroupsPath: "machine.slice:libpod:c1", resources: NONE, annotations: {}, rootless: false };
const LIMITED: UnitInput = { ...INPUT, resources: { ...NONE, memory: { limit: 5n }, cpu: { quota: 12_345n, period: 100_000n } } };

/** Values by name. */
const values = (properties: readonly string[]) => Object.fromEntries(properties.map((text) => text.split(/=(.*)/s, 2)));

describe("cgroup v2", () => {
  test("device rules are runt's own program alone", () => {
    const { steps } = compileUnit(UNIFIED_HOST, SYSTEM, LIMITED);
    expect(steps.devices?.path).toBe("/sys/fs/cgroup/machine.slice/libpod-c1.scope");
    expect(steps.join.properties.filter((text) => text.startsWith("Device"))).toEqual([]);
  });

  test("a scope: systemd makes the cgroup, the rest is written into it", () => {
    const { path, steps } = compileUnit(UNIFIED_HOST, SYSTEM, LIMITED);
    const directory = "/sys/fs/cgroup/machine.slice/libpod-c1.scope";
    expect(path).toBe("/machine.slice/libpod-c1.scope");
    expect(steps.create).toEqual([{ path: directory }]);
    expect(steps.writes.map(({ path: file, value }) => `${file} ${value}`)).toEqual([
      `${directory}/memory.max 5`,
      `${directory}/cpu.max 13000 100000`,
    ]);
    expect(steps.devices?.path).toBe(directory);
    expect(steps.join).toMatchObject({ unit: "libpod-c1.scope", withInit: true, attach: [], socket: "/run/systemd/private", direct: true });
    expect(values(steps.join.properties)).toMatchObject({
      Description: "'runt container c1'",
      Slice: "'machine.slice'",
      Delegate: "true",
      MemoryAccounting: "true",
      CPUAccounting: "true",
      IOAccounting: "true",
      TasksAccounting: "true",
      DefaultDependencies: "false",
      MemoryMax: "uint64 5",
      CPUQuotaPerSecUSec: "uint64 130000",
    });
  });

  test("a slice has no process of systemd's: init is written into it", () => {
    const { steps } = compileUnit(UNIFIED_HOST, SYSTEM, { ...INPUT, cgroupsPath: "::ecs-1.slice" });
    const names = Object.keys(values(steps.join.properties));
    expect(steps.join).toMatchObject({ unit: "ecs-1.slice", withInit: false });
    expect(steps.join.attach).toEqual(["/sys/fs/cgroup/ecs.slice/ecs-1.slice/cgroup.procs"]);
    expect(names).not.toContain("Slice");
    expect(names).not.toContain("Delegate");
  });

  test("a user's manager: below its own cgroup, without device rules", () => {
    const { path, steps } = compileUnit(UNIFIED_HOST, USER, { ...INPUT, cgroupsPath: "", rootless: true });
    expect(path).toBe("/user.slice/user-1000.slice/user@1000.service/user.slice/runt-c1.scope");
    expect(steps.create).toEqual([{ path: `/sys/fs/cgroup${path}` }]);
    expect(values(steps.join.properties)).toMatchObject({ Slice: "'user.slice'" });
  });
});

describe("cgroup v1", () => {
  test("systemd has its own hierarchy, init is written into the others", () => {
    const { steps } = compileUnit(HYBRID_HOST, SYSTEM, LIMITED);
    const below = (name: string) => `/sys/fs/cgroup/${name}/machine.slice/libpod-c1.scope`;
    const names = ["cpu,cpuacct", "cpuset", "memory", "devices", "freezer", "blkio", "pids", "hugetlb"];
    expect(steps.create).toEqual(names.map((name) => ({ path: below(name) })));
    expect(steps.join.attach).toEqual(names.map((name) => `${below(name)}/tasks`));
    expect(values(steps.join.properties)).toMatchObject({ BlockIOAccounting: "true", MemoryLimit: "uint64 5", DevicePolicy: "'strict'" });
    expect(steps.writes.map(({ value }) => value)).toContain("13000");
  });

  test("a slice: init is written into systemd's hierarchy too", () => {
    const { steps } = compileUnit(HYBRID_HOST, SYSTEM, { ...INPUT, cgroupsPath: "::ecs.slice" });
    expect(steps.join.attach).toContain("/sys/fs/cgroup/systemd/ecs.slice/tasks");
  });

  test("a user's manager has no v1 controllers", () => {
    expect(() => compileUnit(HYBRID_HOST, USER, INPUT)).toThrow("cannot use rootless systemd cgroups manager on cgroup v1");
  });
});

test("annotations come last and override", () => {
  const annotations = { "org.systemd.property.Delegate": "false", "org.systemd.property.Description": "'mine'" };
  const { properties } = compileUnit(UNIFIED_HOST, SYSTEM, { ...INPUT, annotations }).steps.join;
  expect(values(properties)).toMatchObject({ Delegate: "false", Description: "'mine'" });
  expect(properties.filter((text) => text.startsWith("Delegate="))).toHaveLength(1);
});

test("every property of a plan reads as what it was printed from", () => {
  for (const host of [UNIFIED_HOST, HYBRID_HOST]) {
    for (const text of compileUnit(host, SYSTEM, LIMITED).steps.join.properties) expect(printProperty(parseProperty(text))).toBe(text);
  }
});

const LIST = {
  defaultAllow: false,
  exceptions: [
    { type: "b", major: -1, minor: -1, access: "m" },
    { type: "c", major: -1, minor: 3, access: "r" },
    { type: "c", major: 1, minor: 3, access: "rwm" },
    { type: "c", major: 136, minor: -1, access: "rw" },
  ],
} as const;
const ALL = { defaultAllow: true, exceptions: [] };
const ALL_BUT_ONE = { defaultAllow: true, exceptions: [{ type: "b", major: 8, minor: 0, access: "w" }] } as const;

function compile(list: Parameters<typeof deviceProperties>[0], systemd: number) {
  const warnings: string[] = [];
  return {
    properties: deviceProperties(
      list,
      () => systemd,
      (text) => warnings.push(text),
    ).map(printProperty),
    warnings,
  };
}

test("what is allowed, in systemd's words", () => {
  expect(compile(LIST, 252)).toEqual({
    properties: ["DevicePolicy='strict'", "DeviceAllow=@a(ss) [('block-*', 'm'), ('/dev/char/1:3', 'rwm'), ('char-136', 'rw')]"],
    warnings: ["systemd 252 cannot name the devices c *:3"],
  });
});

test("systemd before 240 knows no numbered groups", () => {
  const { properties, warnings } = compile(LIST, 239);
  expect(properties[1]).toBe("DeviceAllow=@a(ss) [('block-*', 'm'), ('/dev/char/1:3', 'rwm')]");
  expect(warnings).toEqual(["systemd 239 cannot name the devices c *:3", "systemd 239 cannot name the devices c 136:*"]);
});

test("everything allowed", () => {
  expect(compile(ALL, 252)).toEqual({ properties: ["DevicePolicy='auto'", "DeviceAllow=@a(ss) []"], warnings: [] });
});

test("exceptions to everything: systemd must not open them", () => {
  const { properties, warnings } = compile(ALL_BUT_ONE, 252);
  expect(properties).toEqual(["DevicePolicy='strict'", "DeviceAllow=@a(ss) []"]);
  expect(warnings).toHaveLength(1);
});
