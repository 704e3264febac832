import { describe, expect, it, test } from "vitest";
import containerd from "../../../test/fixtures/specs/containerd.json";
import podman from "../../../test/fixtures/specs/podman.json";
import { checkSpec } from "../check/index.ts";
import { RuntError } from "../errors/index.ts";
import type { Spec } from "../spec/index.ts";
import { deriveConfig, deriveHooks, deriveIntelRdt, deriveNetDevices, deviceRuleMode } from "./derive.ts";

const warnings: string[] = [];
const deriveOfIntelRdt = (intelRdt: Parameters<typeof deriveIntelRdt>[0]) => {
  warnings.length = 0;
  return deriveIntelRdt(intelRdt, (code, pointer) => void warnings.push(`${code} ${pointer}`));
};

it("writes the cache first, the bandwidth then, and what is given line by line last", () => {
  const schemata = ["L2:0=f", "", "MB:0=30"];
  expect(deriveOfIntelRdt({ closID: "gold", schemata, memBwSchema: "MB:0=20", l3CacheSchema: "L3:0=ff", enableMonitoring: true })).toEqual({
    closId: "gold",
    schemata: ["L3:0=ff", "MB:0=20", "L2:0=f", "MB:0=30"],
    monitoring: true,
  });
});

it("takes an empty object for a group of the container's own", () => {
  expect(deriveOfIntelRdt({})).toEqual({ schemata: [], monitoring: false });
  expect(deriveOfIntelRdt({ closID: "", l3CacheSchema: "", schemata: null, enableMonitoring: null, enableCMT: false })).toEqual(
    deriveOfIntelRdt({}),
  );
  expect(warnings).toEqual([]);
});

it("tells of the fields that the specification has given up", () => {
  deriveOfIntelRdt({ enableCMT: true, enableMBM: true });
  expect(warnings).toEqual(["intel-rdt-ignored /linux/intelRdt/enableCMT", "intel-rdt-ignored /linux/intelRdt/enableMBM"]);
});

const derive = (change: Partial<Spec>) => deriveConfig({ ociVersion: "1.0.2", root: { path: "rootfs" }, ...change }, { bundle: "/b" });

function refusal(change: Partial<Spec>): RuntError {
  try {
    derive(change);
  } catch (error) {
    if (error instanceof RuntError) return error;
    throw error;
  }
  throw new Error("accepted");
}

describe("deriveConfig", () => {
  it("fills in everything for the smallest configuration", () => {
    expect(derive({})).toEqual({
      ociVersion: "1.0.2",
      bundle: "/b",
      rootfs: "/b/rootfs",
      rootReadonly: false,
      rootfsPropagation: 0,
      annotations: {},
      namespaces: [],
      uidMappings: [],
      gidMappings: [],
      mounts: [],
      devices: expect.any(Array),
      mountedInDev: new Set(),
      netDevices: [],
      hooks: {},
      maskedPaths: [],
      readonlyPaths: [],
      sysctl: [],
      cgroupsPath: "",
      resources: { hugepageLimits: [], rdma: {}, unified: {}, devices: [] },
      warnings: [],
    });
  });

  it("reads null as absent", () => {
    const spec = { process: null, hostname: null, mounts: null, annotations: null, hooks: null, linux: null } satisfies Partial<Spec>;
    expect(derive(spec)).toEqual(derive({}));
    const linux = {
      namespaces: null,
      uidMappings: null,
      devices: null,
      resources: null,
      seccomp: null,
      sysctl: null,
      maskedPaths: null,
      cgroupsPath: null,
    };
    expect(derive({ linux })).toEqual(derive({}));
  });

  it("resolves root.path against the bundle", () => {
    expect(derive({ root: { path: "./rootfs/" } }).rootfs).toBe("/b/rootfs");
    expect(derive({ root: { path: "/srv/root" } }).rootfs).toBe("/srv/root");
    expect(derive({ root: { path: "../other" } }).rootfs).toBe("/other");
  });

  it("takes containerd's configuration without a word", () => {
    const spec: Spec = containerd;
    expect(checkSpec(spec)).toEqual([]);
    const config = deriveConfig(spec, { bundle: "/b" });
    expect(config.warnings).toEqual([]);
    expect(config.mounts.map(({ kind }) => kind)).toEqual([...Array(7).fill("filesystem"), "cgroup", "bind"]);
    expect(config.namespaces[4]).toEqual({ from: "/linux/namespaces/4", type: "network", path: "/var/run/netns/box" });
    expect(config.resources).toMatchObject({
      memory: { limit: 134217728n, swap: 134217728n },
      cpu: { shares: 1024n, quota: 50000n, period: 100000n },
      pids: { limit: 100n },
    });
    expect(config.resources.devices[0]).toEqual({
      from: "/linux/resources/devices/0",
      allow: false,
      type: "a",
      major: -1,
      minor: -1,
      access: "rwm",
    });
    expect(config.resources.devices[2]).toMatchObject({ allow: true, type: "c", major: 136, minor: -1 });
  });

  it("takes podman's configuration, with nulls and duplicate environment", () => {
    const spec: Spec = podman;
    expect(checkSpec(spec)).toEqual([]);
    const config = deriveConfig(spec, { bundle: "/b" });
    expect(config.warnings.map(({ code }) => code)).toEqual(["env-duplicate"]);
    expect(config.process).toMatchObject({
      terminal: true,
      consoleRows: 40,
      consoleColumns: 120,
      umask: 0o022,
      oomScoreAdj: 0,
      additionalGids: [],
    });
    expect(config.process?.env).toEqual(["PATH=/usr/bin:/bin", "container=podman", "HOME=/root", "TERM=xterm-256color"]);
    expect(config.process?.capabilities).toMatchObject({ inheritable: 0n, ambient: 0n });
    expect(config.rootfs).toBe("/srv/overlay/merged");
    expect(config.resources.memory).toEqual({});
    expect(config.resources.blockIO).not.toHaveProperty("weight");
    expect(config.sysctl).toEqual([
      { key: "net.ipv4.ping_group_range", path: "net/ipv4/ping_group_range", value: "0 0", namespace: "network" },
    ]);
  });

  it("knows the words of rootfsPropagation", () => {
    const flags = (rootfsPropagation: string) => derive({ linux: { rootfsPropagation } }).rootfsPropagation;
    expect(flags("")).toBe(0);
    expect(flags("shared")).toBe(1 << 20);
    expect(flags("rslave")).toBe((1 << 19) | (1 << 14));
    for (const word of ["foo", "ro", "bind"]) {
      expect(refusal({ linux: { rootfsPropagation: word } }).details.pointer).toBe("/linux/rootfsPropagation");
    }
  });

  it("keeps time offsets exact", () => {
    expect(derive({ linux: { timeOffsets: { boottime: { secs: 9223372036854775807n, nanosecs: 1 } } } }).timeOffsets).toEqual({
      monotonic: { seconds: 0n, nanoseconds: 0 },
      boottime: { seconds: 9223372036854775807n, nanoseconds: 1 },
    });
    expect(derive({ linux: { timeOffsets: {} } })).not.toHaveProperty("timeOffsets");
  });
});

const PROCESS = { cwd: "/", args: ["sh"] };

describe("what asks for nothing", () => {
  it("leaves nothing behind", () => {
    const config = derive({
      hooks: { prestart: [], poststop: null },
      process: { ...PROCESS, apparmorProfile: "", selinuxLabel: "", scheduler: null, ioPriority: null, execCPUAffinity: {} },
      linux: { seccomp: {}, mountLabel: "", personality: null, intelRdt: null, memoryPolicy: null },
    });
    expect(config).toEqual({ ...derive({ process: PROCESS }), process: { ...config.process } });
    expect(config.process).toEqual({ ...derive({ process: PROCESS }).process, execAffinity: { initial: [], final: [] } });
  });
});

describe("how the kernel treats the process", () => {
  it("is resolved where it is asked for", () => {
    const config = derive({
      process: {
        ...PROCESS,
        scheduler: { policy: "SCHED_BATCH", nice: 5 },
        ioPriority: { class: "IOPRIO_CLASS_BE", priority: 6 },
        execCPUAffinity: { initial: "0-1", final: "1" },
      },
      linux: {
        personality: { domain: "LINUX" },
        intelRdt: { closID: "/", enableMBM: true },
        memoryPolicy: { mode: "MPOL_BIND", nodes: "0" },
      },
    });
    expect(config.process).toMatchObject({
      scheduler: { policy: 3, nice: 5 },
      ioPriority: { class: 2, priority: 6 },
      execAffinity: { initial: [0, 1], final: [1] },
    });
    expect(config).toMatchObject({ personality: 0, intelRdt: { closId: "/" }, memoryPolicy: { mode: 2, nodes: [0] } });
    expect(config.warnings.map(({ code }) => code)).toEqual(["intel-rdt-ignored"]);
  });
});

const NAME = "io.runt.default-device-rules";

test.each([
  [undefined, {}],
  [null, {}],
  [{}, {}],
  [{ [NAME]: "true" }, {}],
  [{ [NAME]: "false" }, { onlyListedDevices: true }],
])("%o", (annotations, expected) => {
  expect(deviceRuleMode(annotations)).toEqual(expected);
});

test.each(["", "no", "False"])("%j is refused", (value) => {
  expect(() => deviceRuleMode({ [NAME]: value })).toThrow(`annotation ${NAME}: ${JSON.stringify(value)} is neither`);
});

it("keeps the kinds that are asked for, with what each hook leaves out filled in", () => {
  const hooks = deriveHooks({
    poststop: [{ path: "/a", args: ["a", "-v"], env: ["X=1"], timeout: 3 }],
    prestart: [{ path: "/b" }, { path: "/c", args: [], env: [] }],
    createRuntime: [],
    poststart: null,
  });
  expect(hooks).toEqual({
    prestart: [
      { path: "/b", args: ["/b"], timeout: 0 },
      { path: "/c", args: ["/c"], env: [], timeout: 0 },
    ],
    poststop: [{ path: "/a", args: ["a", "-v"], env: ["X=1"], timeout: 3 }],
  });
});

it("bounds a time-out to what the timer counts", () => {
  expect(deriveHooks({ prestart: [{ path: "/a", timeout: 9_223_372_036_854_775_807n }] }).prestart?.[0]?.timeout).toBe(0xffff_ffff);
});

it("is empty without hooks", () => {
  expect(deriveHooks(undefined)).toEqual({});
  expect(deriveHooks(null)).toEqual({});
});

it("keeps the order, and the host's name where no other one is asked for", () => {
  expect(deriveNetDevices({ "eth1/x": { name: "net%d" }, eth0: {}, eth2: { name: "" }, eth3: { name: null } })).toEqual([
    { from: "/linux/netDevices/eth1~1x", device: "eth1/x", name: "net%d" },
    { from: "/linux/netDevices/eth0", device: "eth0", name: "eth0" },
    { from: "/linux/netDevices/eth2", device: "eth2", name: "eth2" },
    { from: "/linux/netDevices/eth3", device: "eth3", name: "eth3" },
  ]);
});

it("is empty without devices", () => {
  for (const devices of [undefined, null, {}]) expect(deriveNetDevices(devices)).toEqual([]);
});
