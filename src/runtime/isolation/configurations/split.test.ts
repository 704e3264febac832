import { describe, expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { DEFAULT_SETTINGS } from "../asked/settings.ts";
import { fromEntries, type MachineRequest } from "../request.ts";
import { ISOLATION } from "./host.ts";
import { type Sides, splitSpec } from "./split.ts";

const SPEC: Spec = {
  ociVersion: "1.0.2",
  root: { path: "rootfs" },
  process: { args: ["sh"], cwd: "/", env: ["A=b=c"], apparmorProfile: "p" },
  hostname: "h",
  annotations: { a: "b" },
  mounts: [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/data", type: "bind", source: "data", options: ["rbind", "ro", "rprivate"] },
    { destination: "/etc/hosts", source: "/hosts", options: ["bind", "nosuid"] },
  ],
  linux: {
    cgroupsPath: "/here",
    namespaces: [{ type: "pid" }, { type: "ipc" }, { type: "network", path: "/run/netns/pod" }],
    resources: { memory: { limit: 64 << 20 }, cpu: { quota: 150_000, period: 100_000, cpus: "0-1" }, pids: { limit: 20 } },
  },
};

const split = (change: Partial<Spec> = {}, settings = DEFAULT_SETTINGS): Sides =>
  splitSpec(
    { ...SPEC, ...change },
    {
      ...{ id: "c", inBundle: (path) => (path.startsWith("/") ? path : `/b/${path}`), runt: "/usr/bin/runt", settings },
    },
  );

/** Of what boots the machine. */
const requestOf = ({ hooks }: Spec) => fromEntries(hooks!.createContainer![0]!.env!) as MachineRequest;

describe("the two sides of a configuration", () => {
  it("put the bind mounts into the shared directory, and bind them from there in the guest", () => {
    const { host, guest } = split();
    const at = (destination: string, { mounts }: Spec) => mounts?.find((mount) => mount.destination === destination);
    expect(at("/share/root", host)).toEqual({ destination: "/share/root", type: "bind", source: "/b/rootfs", options: ["rbind"] });
    expect(at("/share/volume-0", host)).toEqual({
      ...{ destination: "/share/volume-0", type: "bind", source: "/b/data", options: ["rbind", "ro"] },
    });
    expect(at("/share/volume-1", host)).toMatchObject({ source: "/hosts", options: ["bind"] });
    expect(at("/data", guest)).toMatchObject({ source: "/share/volume-0", options: ["rbind", "ro", "rprivate"] });
    expect(at("/etc/hosts", guest)).toMatchObject({ type: "bind", source: "/share/volume-1", options: ["bind", "nosuid"] });
    expect(at("/proc", guest)).toEqual(SPEC.mounts![0]);
    expect(guest.root).toEqual({ path: "/share/root" });
  });

  it("leave out of the guest how eagerly it swaps, which has no swap and is of cgroup v2", () => {
    const { guest } = split({ linux: { ...SPEC.linux, resources: { memory: { limit: 64 << 20, swappiness: 0 } } } });
    expect(guest.linux?.resources).toEqual({ memory: { limit: 64 << 20 } });
  });

  it("have the mount points of a read-only root made on the host, but for those below another mount", () => {
    const shm = { destination: "/proc/x", type: "tmpfs", source: "tmpfs" };
    const mounts = [...SPEC.mounts!, { destination: "//new/./place/", type: "tmpfs", source: "tmpfs" }, shm];
    const points = (readonly: boolean) => requestOf(split({ root: { path: "/r", readonly }, mounts }).host).mountPoints;
    expect(points(true)).toEqual([
      { path: "/proc" },
      { path: "/data", source: "/b/data" },
      { path: "/etc/hosts", source: "/hosts" },
      { path: "/new/place" },
    ]);
    expect(points(false)).toEqual([]);
  });

  it("have KVM where the host has it and the operator does not say otherwise, with the device for the hypervisor's user", () => {
    const { mounts: _, ...spec } = SPEC;
    const input = { id: "c", inBundle: (path: string) => path, runt: "/usr/bin/runt" };
    const sides = (settings: object, hasKvm: boolean) =>
      splitSpec(spec, { ...input, hasKvm, settings: { ...DEFAULT_SETTINGS, ...settings } });
    const kvm = { path: "/dev/kvm", type: "c", major: 10, minor: 232, fileMode: 0o600, uid: 65_534, gid: 65_534 };
    expect(requestOf(sides({}, true).host).accelerator).toBe("auto");
    expect(sides({}, true).host.linux?.devices).toContainEqual(kvm);
    // Without a rule its processes could not open it.
    const rule = { allow: true, type: "c", major: 10, minor: 232, access: "rw" };
    expect(sides({}, true).host.linux?.resources?.devices).toEqual([rule]);
    for (const { host } of [sides({}, false), sides({ accelerator: "tcg" }, true)]) {
      expect(requestOf(host).accelerator).toBe("tcg");
      expect(host.linux?.devices).not.toContainEqual(kvm);
    }
    expect(() => sides({ accelerator: "kvm" }, false)).toThrow("the host has no /dev/kvm");
  });

  it("say that the machine is emulated, and why, where the operator has not chosen it", () => {
    const warned = (kvm: { readonly hasKvm: boolean; readonly kvmFails?: boolean }, accelerator: "auto" | "tcg" | "kvm" = "auto") =>
      splitSpec(
        { ...SPEC, mounts: [] },
        { id: "c", inBundle: (path) => path, runt: "/usr/bin/runt", ...kvm, settings: { ...DEFAULT_SETTINGS, accelerator } },
      ).warnings.flatMap(({ message }) => (message.includes("emulation") ? [message] : []));
    expect(warned({ hasKvm: false })).toEqual(["the machine runs by software emulation, which is slow: the host has no /dev/kvm"]);
    expect(warned({ hasKvm: true, kvmFails: true })).toEqual([
      "the machine runs by software emulation, which is slow: KVM has not booted a guest on this host when it was tried",
    ]);
    expect(warned({ hasKvm: true })).toEqual([]);
    for (const accelerator of ["tcg", "kvm"] as const) expect(warned({ hasKvm: true, kvmFails: true }, accelerator)).toEqual([]);
  });

  it("share the root read-only where the container has it so", () => {
    const { host, guest } = split({ root: { path: "/r", readonly: true } });
    expect(host.mounts?.find(({ destination }) => destination === "/share/root")).toMatchObject({ source: "/r", options: ["rbind", "ro"] });
    expect(guest.root?.readonly).toBe(true);
  });

  it("boot the machine in the last hook before the pivot, with the caller's own hooks before it", () => {
    const { host } = split({ hooks: { prestart: [{ path: "/network" }], startContainer: [{ path: "/in" }] } });
    expect(host.hooks).toMatchObject({
      prestart: [{ path: "/network" }],
      createContainer: [{ path: "/usr/bin/runt", args: ["runt", "machine-boot"] }],
    });
    expect(host.hooks?.startContainer).toBeUndefined();
    expect(fromEntries(host.process!.env!)).toEqual({ terminal: false, cpus: 2, memoryMiB: 160 });
  });

  it("have the monitor on the host, and the container's process in the guest", () => {
    const { host, guest } = split();
    expect(host.process?.args).toEqual(["/runt", "machine-monitor"]);
    expect(guest.process).toEqual({ args: ["sh"], cwd: "/", env: ["A=b=c"] });
    expect(host.annotations).toEqual({ a: "b", [ISOLATION]: "vm" });
  });

  it("size the machine by the limits, which hold in the guest", () => {
    const { host, guest, machine } = split();
    const request = requestOf(host);
    expect(machine).toEqual({ socket: "/run/monitor.sock", memoryMiB: 160 });
    expect(request).toMatchObject({ cpus: 2, memoryMiB: 160, cacheMiB: 32, terminal: false });
    expect(JSON.parse(request.config)).toEqual(guest);
    expect(guest.linux?.resources).toEqual({
      ...{ memory: { limit: 64 << 20 }, cpu: { quota: 150_000, period: 100_000 }, pids: { limit: 20 } },
    });
    expect(host.linux?.resources).toEqual({
      ...{ memory: { limit: (160 + 32 + 160) * 1024 ** 2 }, cpu: { cpus: "0-1" }, pids: { limit: 256 } },
    });
  });

  it("join the network namespace on the host, and have new ones in the guest", () => {
    const { host, guest, warnings } = split();
    expect(host.linux?.namespaces).toContainEqual({ type: "network", path: "/run/netns/pod" });
    expect(guest.linux?.namespaces).toEqual(["pid", "ipc", "network", "mount"].map((type) => ({ type })));
    expect(warnings.map(({ pointer }) => pointer)).toEqual(["/process/apparmorProfile", ""]);
    expect(requestOf(host).network).toBe(true);
    expect(host.linux?.devices).toMatchObject([{ path: "/dev/net/tun" }]);
    const [leave] = host.hooks!.poststop!;
    expect(leave).toMatchObject({ path: "/usr/bin/runt", args: ["runt", "machine-leave"] });
    expect(fromEntries(leave!.env!)).toEqual({ network: "/run/netns/pod" });
  });

  it("have no network where the container has the host's, and leave none where it makes its own", () => {
    const of = (namespaces: { type: string }[]) => split({ linux: { namespaces: [{ type: "pid" }, { type: "ipc" }, ...namespaces] } });
    const hosts = of([]);
    expect(requestOf(hosts.host).network).toBe(false);
    expect(hosts.host.linux?.devices).toBeUndefined();
    expect(hosts.warnings.map(({ pointer }) => pointer)).toContain("/linux/namespaces");
    const own = of([{ type: "network" }]);
    expect(requestOf(own.host).network).toBe(true);
    expect(own.host.hooks?.poststop).toEqual([]);
  });

  it.each<[string, string, Partial<Spec>]>([
    [
      "a character device that the guest does not have",
      "/linux/devices/0",
      { linux: { ...SPEC.linux, devices: [{ type: "c", path: "/dev/kvm", major: 10, minor: 232 }] } },
    ],
    ["the host's pid namespace", "/linux/namespaces", { linux: { namespaces: [{ type: "ipc" }] } }],
    ["the host's ipc namespace", "/linux/namespaces", { linux: { namespaces: [{ type: "pid" }] } }],
    [
      "a namespace of others",
      "/linux/namespaces/1/path",
      { linux: { namespaces: [{ type: "pid" }, { type: "ipc", path: "/proc/1/ns/ipc" }] } },
    ],
    ["shared mounts", "/mounts/0/options/1", { mounts: [{ destination: "/a", source: "/a", options: ["rbind", "rshared"] }] }],
    ["a shared root", "/linux/rootfsPropagation", { linux: { ...SPEC.linux, rootfsPropagation: "rshared" } }],
    ["id-mapped mounts", "/mounts/0", { mounts: [{ destination: "/a", source: "/a", options: ["rbind", "idmap"] }] }],
    ["other file systems", "/mounts/0/type", { mounts: [{ destination: "/a", type: "ext4", source: "/dev/sda" }] }],
    ["hooks that run in the container's namespaces", "/hooks/createContainer", { hooks: { createContainer: [{ path: "/h" }] } }],
    ["a kernel that the operator has not allowed", "/vm/kernel/path", { vm: { kernel: { path: "/tmp/vmlinux" } } }],
    ["words for the kernel", "/vm/kernel/parameters", { vm: { kernel: { path: "/tmp/vmlinux", parameters: ["init=/bin/sh"] } } }],
    ["another hypervisor", "/vm/hypervisor/path", { vm: { hypervisor: { path: "/tmp/evil" } } }],
    ["a disk image", "/vm/image", { vm: { image: { path: "/disk", format: "raw" } } }],
  ])("refuse %s", (_, pointer, change) => {
    expect(() => split(change)).toThrow(expect.objectContaining({ code: "not-supported", details: expect.objectContaining({ pointer }) }));
  });

  it("take what the operator's list allows", () => {
    const settings = { ...DEFAULT_SETTINGS, allow: { ...DEFAULT_SETTINGS.allow, images: ["/images/other"] } };
    const { host } = split({ vm: { kernel: { path: "/images/other/boot/vmlinux" } } }, settings);
    expect(host.root?.path).toBe("/images/other/jail");
  });

  it("K10: have the annotations of Kata that the operator allows, and name those without an effect", () => {
    const annotations = {
      "io.katacontainers.config.hypervisor.default_memory": "512",
      "io.katacontainers.config.hypervisor.memory_slots": "10",
    };
    expect(() => split({ annotations })).toThrow(
      expect.objectContaining({
        code: "not-supported",
        details: expect.objectContaining({ pointer: "/annotations/io.katacontainers.config.hypervisor.default_memory" }),
      }),
    );
    const allow = { ...DEFAULT_SETTINGS.allow, annotations: ["default_memory"] };
    const { machine, warnings } = split({ annotations }, { ...DEFAULT_SETTINGS, allow });
    expect(machine.memoryMiB).toBe(64 + 512);
    expect(warnings).toContainEqual({
      pointer: "/annotations/io.katacontainers.config.hypervisor.memory_slots",
      message: "io.katacontainers.config.hypervisor.memory_slots has no effect: a machine does not grow after its start",
    });
  });
});
