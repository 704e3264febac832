import { describe, expect, it } from "vitest";
import { MESSAGES } from "../../shared/protocol/index.ts";
import { deriveConfig } from "../config/index.ts";
import type { Spec, SpecMount } from "../spec/index.ts";
import { type CompileHost, compile } from "./index.ts";

const TASKS = ["/cg/memory/x/tasks"];
const CGROUP: NonNullable<CompileHost["cgroup"]> = {
  create: [{ path: "/cg/memory/x" }],
  writes: [
    { path: "/cg/memory/x/memory.limit_in_bytes", value: "1", from: "/linux/resources/memory/limit" },
    { path: "/cg/devices/x/devices.deny", value: "a", from: "/linux/resources/devices" },
  ],
  join: { tasks: TASKS },
};
const UNIFIED = {
  cgroupVersion: 2,
  cgroup: {
    create: [{ path: "/cg/x" }],
    writes: [{ path: "/cg/x/pids.max", value: "1", from: "/linux/resources/pids/limit" }],
    devices: { path: "/cg/x", rules: ["a:*:*:rwm:deny"] },
    join: { directory: "/cg/x" },
  },
} as const;
const MOUNTS: readonly SpecMount[] = [
  { destination: "/proc", type: "proc", source: "proc" },
  { destination: "/dev", type: "tmpfs", source: "tmpfs" },
  { destination: "/sys", type: "sysfs", source: "sysfs" },
  { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup" },
];
const NEW = [{ type: "pid" }, { type: "mount" }, { type: "network" }];

interface Change {
  mounts?: readonly SpecMount[];
  linux?: Spec["linux"];
  hooks?: Spec["hooks"];
  mode?: "create" | "run";
  facts?: Partial<CompileHost>;
  invocation?: { consoleSocket?: string; notifySocket?: string; pidFile?: string; pidfdSocket?: string };
  terminal?: boolean;
}

function opsOf({ mounts = MOUNTS, linux, hooks, mode = "create", facts, invocation, terminal }: Change) {
  const spec: Spec = {
    ociVersion: "1.2.0",
    root: { path: "rootfs" },
    process: { args: ["true"], cwd: "/", user: { uid: 0, gid: 0 }, capabilities: {}, ...(terminal && { terminal }) },
    mounts: [...mounts],
    linux: { namespaces: NEW, maskedPaths: ["/proc/kcore"], readonlyPaths: ["/proc/sys"], ...linux },
    ...(hooks && { hooks }),
  };
  const config = deriveConfig(spec, { bundle: "/b" });
  const asked = { id: "x", mode, noPivot: false, noNewKeyring: true, preserveFds: 0, listenFds: 0, ...invocation };
  const sources = [{ mountpoint: "/cg/memory", name: "memory", controllers: ["memory"], directory: "/cg/memory/x" }];
  const host: CompileHost = {
    stateDirectory: "/run/x",
    rootless: false,
    cgroupVersion: 1,
    cgroupSources: sources,
    cgroup: CGROUP,
    ...facts,
  };
  return compile({ config, invocation: asked, host }).ops;
}

/** Which of these come before init waits for its cgroups. */
function early(change: Change): Record<string, boolean> {
  const ops = opsOf(change);
  const wait = ops.findIndex(
    ({ op, actor, args }) => actor === "init" && op === "sync.wait" && "message" in args && args.message === MESSAGES.cgroup,
  );
  expect(wait).toBeGreaterThan(0);
  const isEarly = (name: string) => ops.findIndex(({ op }) => op === name) < wait;
  return {
    devices: isEarly("device.create"),
    paths: isEarly("path.mask") && isEarly("path.readonly"),
    bounding: isEarly("capability.bounding"),
  };
}

const ALL = { devices: true, paths: true, bounding: true };
const NONE = { devices: false, paths: false, bounding: false };
const DEVICES = { ...NONE, devices: true };
const bound = (destination: string): SpecMount => ({ destination, type: "bind", source: "/s", options: ["bind"] });

describe("what init does while the cgroups are made", () => {
  it.each<readonly [string, Change, object]>([
    ["all of it, of an ordinary container", {}, ALL],
    ["nothing when another mount follows", { mounts: [...MOUNTS, bound("/data")] }, NONE],
    ["nothing without a /dev of its own", { mounts: MOUNTS.filter(({ destination }) => destination !== "/dev") }, NONE],
    ["nothing without a sysfs of its own", { mounts: MOUNTS.filter(({ destination }) => destination !== "/sys") }, NONE],
    ["nothing when cgroups are not below it", { mounts: [...MOUNTS.slice(0, 3), { ...MOUNTS[3]!, destination: "/cgroup" }] }, NONE],
    ["nothing with a device elsewhere", { linux: { devices: [{ path: "/data/null", type: "c", major: 1, minor: 3 }] } }, NONE],
    ["only devices when a path is above the cgroups", { linux: { readonlyPaths: ["/sys"] } }, DEVICES],
    ["only devices when a path is at the cgroups", { linux: { readonlyPaths: ["/sys/fs/cgroup"] } }, DEVICES],
    ["only devices when a path is below the cgroups", { linux: { maskedPaths: ["/sys/fs/cgroup/memory"] } }, DEVICES],
    ["only devices when a path is the image's", { linux: { maskedPaths: ["/etc/x"] } }, DEVICES],
    ["only devices with a sysctl", { linux: { sysctl: { "net.ipv4.ip_forward": "1" } } }, DEVICES],
    ["only devices with a hook between", { hooks: { createContainer: [{ path: "/bin/true" }] } }, DEVICES],
    ["only devices without a procfs of its own", { mounts: MOUNTS.slice(1) }, DEVICES],
    ["all of it, with another path of /sys", { linux: { maskedPaths: ["/sys/firmware"] } }, ALL],
  ])("%s", (_, change, expected) => {
    expect(early(change)).toEqual(expected);
  });

  it("keeps every operation once", () => {
    const late = opsOf({ mounts: [...MOUNTS, bound("/data")] }).filter(({ from }) => from !== "/mounts/4");
    const names = (ops: ReturnType<typeof opsOf>) => ops.map(({ op, actor }) => `${actor} ${op}`).sort();
    expect(names(opsOf({}))).toEqual(names(late));
  });
});

describe("cgroups that are bound as they are made", () => {
  const HIERARCHIES = ["cpu", "memory", "pids"];
  const cgroup = { create: HIERARCHIES.map((name) => ({ path: `/cg/${name}/x` })), writes: [], join: { tasks: ["/cg/cpu/x/tasks"] } };
  const sources = HIERARCHIES.map((name) => ({ mountpoint: `/cg/${name}`, name, controllers: [name], directory: `/cg/${name}/x` }));
  const FACTS = { cgroup, cgroupSources: sources } as const;
  const initOps = (change: Change) => opsOf({ facts: FACTS, ...change }).flatMap(({ op, actor }) => (actor === "init" ? [op] : []));
  const made = (change: Change) =>
    opsOf({ facts: FACTS, ...change }).flatMap(({ op, args }) => (op === "cgroup.openTree" ? [(args as { made: number }).made] : []));
  const bindsFirst = (change: Change) => initOps(change).lastIndexOf("mount.bind") < initOps(change).indexOf("cgroup.join");
  const joinsLast = (change: Change) => initOps(change).slice(0, initOps(change).indexOf("cgroup.join")).includes("root.pivot");

  it("waits for each cgroup alone, and joins all of them behind the pivot", () => {
    expect(made({})).toEqual([1, 2, 3]);
    expect(bindsFirst({}) && joinsLast({})).toBe(true);
    const ops = initOps({});
    const order = ["cgroup.openTree", "file.open", "cgroup.open", "root.pivot", "sync.wait", "cgroup.join", "process.user"] as const;
    expect(order.map((name) => ops.indexOf(name))).toEqual(order.map((name) => ops.indexOf(name)).sort((a, b) => a - b));
  });

  it("waits for all of them where it is not known which one it shows", () => {
    const elsewhere = { ...FACTS, cgroupSources: [{ ...sources[0]!, directory: "/cg/cpu/other" }] };
    expect(made({ facts: elsewhere })).toEqual([3]);
  });

  it.each<readonly [string, Change]>([
    ["a hook before the pivot", { hooks: { createContainer: [{ path: "/bin/true" }] } }],
    ["a cgroup namespace", { linux: { namespaces: [...NEW, { type: "cgroup" }] } }],
    ["another mount behind", { mounts: [...MOUNTS, bound("/data")] }],
    ["nothing to show", { facts: { ...FACTS, cgroupSources: [] } }],
    ["fewer cgroups to show than are made", { facts: { ...FACTS, cgroupSources: sources.slice(1) } }],
    ["a mount namespace that is joined", { linux: { namespaces: [{ type: "mount", path: "/m" }] } }],
  ])("joins first with %s", (_, change) => {
    expect(joinsLast(change)).toBe(false);
  });
});

describe("an init that is ready before it is done", () => {
  const isEarly = (change: Change) => {
    const ops = opsOf(change).filter(({ actor }) => actor === "init");
    const ready = ops.filter(({ op, args }) => op === "sync.send" && (args as { message: number }).message === MESSAGES.ready);
    expect(ready).toHaveLength(1);
    expect(ops.indexOf(ready[0]!)).toBeGreaterThan(ops.findIndex(({ op }) => op === "root.pivot"));
    return ops.indexOf(ready[0]!) < ops.findIndex(({ op }) => op === "process.user");
  };
  const syscalls = [{ names: ["mkdir"], action: "SCMP_ACT_NOTIFY" as const }];
  const listener = { defaultAction: "SCMP_ACT_ALLOW" as const, listenerPath: "/l", syscalls };

  it("is one of run, whose runtime hears of the rest", () => {
    expect(isEarly({ mode: "run" })).toBe(true);
    expect(isEarly({ mode: "create" })).toBe(false);
  });

  it.each<readonly [string, Change]>([
    ["a pid file", { invocation: { pidFile: "/p" } }],
    ["a socket for the pidfd", { invocation: { pidfdSocket: "/p" } }],
    ["a listener", { linux: { seccomp: listener } }],
    ["a hook between", { hooks: { createRuntime: [{ path: "/bin/true" }] } }],
    ["a terminal", { terminal: true }],
  ])("is none with %s", (_, change) => {
    expect(isEarly({ mode: "run", ...change })).toBe(false);
  });
});

describe("who is told of the cgroups, and when", () => {
  const place = (change: Change, name: string, actor = "runtime") =>
    opsOf(change).findIndex(({ op, actor: who }) => op === name && who === actor);
  const intermediate = (change: Change) => opsOf(change).flatMap(({ op, actor }) => (actor === "intermediate" ? [op] : []));

  it("tells init after the limits and before the device rules", () => {
    const ops = opsOf({});
    const writes = ops.flatMap(({ op }, index) => (op === "cgroup.write" ? [index] : []));
    const told = place({}, "sync.send");
    expect(writes).toHaveLength(2);
    expect(told).toBeGreaterThan(writes[0]!);
    expect(told).toBeLessThan(writes[1]!);
  });

  it("hands the plan over before the record, and init opens the fifo when it is told", () => {
    expect(place({}, "helper.spawn")).toBe(0);
    expect(place({}, "state.intent")).toBe(1);
    expect(intermediate({})).toEqual(["process.clone"]);
    expect(place({}, "file.open", "init")).toBeGreaterThan(place({}, "cgroup.openTree", "init"));
  });

  it.each<readonly [string, Change]>([
    ["a joined namespace", { linux: { namespaces: [{ type: "mount" }, { type: "network", path: "/run/netns/x" }] } }],
    ["a time namespace", { linux: { namespaces: [...NEW, { type: "time" }] } }],
    ["a console socket", { invocation: { consoleSocket: "/s" } }],
    ["network devices", { linux: { netDevices: { eth0: {} } } }],
    ["a startContainer hook", { hooks: { startContainer: [{ path: "/bin/true" }] } }],
    ["a console socket on cgroup v2", { facts: UNIFIED, invocation: { consoleSocket: "/s" } }],
    ["a rootless caller", { facts: { rootless: true } }],
  ])("writes the record first with %s", (_, change) => {
    expect(place(change, "state.intent")).toBe(0);
    expect(intermediate(change).length).toBeGreaterThan(1);
  });

  it("on cgroup v2 the intermediate waits for the cgroup that it clones into, with its limits", () => {
    const change = { facts: UNIFIED };
    expect(place(change, "helper.spawn")).toBe(0);
    expect(intermediate(change)).toEqual(["mask.open", "capability.bounding", "sync.wait", "cgroup.openDirectory", "process.clone"]);
    const order = ["state.intent", "cgroup.create", "cgroup.write", "sync.send", "cgroup.devices", "sync.wait"].map((name) =>
      place(change, name),
    );
    expect(order).toEqual([...order].sort((a, b) => a - b));
    expect(order).not.toContain(-1);
  });

  it("a createContainer hook, which init runs, has all that the runtime may have", () => {
    const change: Change = { facts: UNIFIED, hooks: { createContainer: [{ path: "/bin/true" }] } };
    expect(place(change, "capability.bounding", "init")).toBeGreaterThan(place(change, "hook.run", "init"));
  });

  it("makes the socket for notifications before init can want it", () => {
    const change = { invocation: { notifySocket: "/n" } };
    expect(intermediate(change)).toEqual(["process.clone"]);
    expect(place(change, "helper.spawn")).toBeGreaterThan(place(change, "notify.prepare"));
  });
});
