import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { DEFAULT_CAPABILITIES, DEFAULT_MOUNTS, maskedProcessors } from "../profile.ts";
import type { LaunchCommand } from "./command.ts";
import { capabilitiesOf, toConfig } from "./config.ts";

const context = { id: "x", user: { uid: 0, gid: 0, additionalGids: [] }, cgroupVersion: 1 } as const;
const configOf = (command: Partial<LaunchCommand>) =>
  toConfig({ rootfs: "/r", cmd: "true", ...command } as LaunchCommand, context) as {
    process: Record<string, unknown>;
    hostname?: string;
    mounts: { destination: string; type?: string; source?: string }[];
    linux: { namespaces: { type: string; path?: string }[]; resources: { devices: unknown[] }; maskedPaths: string[] };
  };

test("one list is three sets; ambient ones are in every set", () => {
  expect(capabilitiesOf(["CAP_KILL"])).toEqual({
    bounding: ["CAP_KILL"],
    effective: ["CAP_KILL"],
    permitted: ["CAP_KILL"],
    inheritable: [],
    ambient: [],
  });
  expect(capabilitiesOf().ambient).toEqual([]);
  const sets = capabilitiesOf({ ambient: ["CAP_SYS_TIME"] });
  for (const set of Object.values(sets)) expect(set).toContain("CAP_SYS_TIME");
  expect(sets["bounding"]).toEqual([...DEFAULT_CAPABILITIES, "CAP_SYS_TIME"]);
});

test("rules for devices without nodes, the domain, hooks, and a root that passes mounts on where a mount asks for it", () => {
  const mount = (option: string) => ({ destination: "/m", source: "/s", type: "bind", options: ["rbind", option] });
  const config = configOf({ deviceRules: [{ type: "c", major: 13 }], domainname: "d", hooks: { poststop: [] }, mounts: [mount("rslave")] });
  expect(config).toMatchObject({ domainname: "d", hooks: { poststop: [] }, linux: { rootfsPropagation: "rslave" } });
  expect(config.linux.resources.devices.at(-1)).toEqual({ allow: true, type: "c", major: 13, access: "rwm" });
  expect(configOf({ mounts: [mount("rslave"), mount("shared")] }).linux).toMatchObject({ rootfsPropagation: "shared" });
  expect(configOf({ mounts: [mount("rprivate")] }).linux).not.toHaveProperty("rootfsPropagation");
});

test("groups of the image and of the command together, or those of the command alone", () => {
  const groups = (command: Partial<LaunchCommand>) => {
    const user = { uid: 1, gid: 1, additionalGids: [35] };
    const { process } = toConfig({ rootfs: "/r", cmd: "true", additionalGids: [7], ...command } as LaunchCommand, { ...context, user });
    return (process as { user: { additionalGids: number[] } }).user.additionalGids;
  };
  expect(groups({})).toEqual([35, 7]);
  expect(groups({ strictGids: true })).toEqual([7]);
});

test("namespaces: private, the host's, another's", () => {
  const { linux, hostname, mounts } = configOf({ namespaces: { uts: "host", ipc: "host", network: { path: "/run/net" } } });
  expect(linux.namespaces).toEqual([{ type: "mount" }, { type: "pid" }, { type: "network", path: "/run/net" }, { type: "cgroup" }]);
  expect(configOf({ namespaces: { uts: { path: "/run/uts" } } }).hostname).toBeUndefined();
  expect(configOf({ namespaces: { uts: { path: "/run/uts" } }, hostname: "h" }).hostname).toBe("h");
  expect(() => configOf({ namespaces: { pid: { executor: "other" } } })).toThrow("no path is known");
  // The host's name and message queues are not the container's to set and mount.
  expect(hostname).toBeUndefined();
  expect(mounts.map(({ destination }) => destination)).not.toContain("/dev/mqueue");
});

test("a mount takes the place of the default one", () => {
  const { mounts } = configOf({ mounts: [{ destination: "/dev/shm", type: "tmpfs", source: "mine" }] });
  expect(mounts).toHaveLength(DEFAULT_MOUNTS.length);
  expect(mounts.at(-1)).toMatchObject({ destination: "/dev/shm", source: "mine" });
  expect(configOf({ sharedMemory: false }).mounts.map(({ destination }: { destination: string }) => destination)).not.toContain("/dev/shm");
  expect(configOf({ namespaces: { network: "host" } }).mounts.find(({ destination }) => destination === "/sys")?.type).toBe("bind");
});

test("devices are nodes and rules; everything else is denied", () => {
  const { linux } = configOf({ devices: [{ path: "/dev/fuse", type: "c", major: 10, minor: 229, access: "rw" }] });
  expect(linux.resources.devices).toEqual([
    { allow: false, access: "rwm" },
    { allow: true, type: "c", major: 10, minor: 229, access: "rw" },
  ]);
});

test("the paths that tell of others are hidden, also those of each processor", () => {
  const { maskedPaths } = configOf({}).linux;
  expect(maskedPaths).toEqual(expect.arrayContaining(["/proc/kcore", "/proc/interrupts", "/sys/devices/virtual/powercap"]));
  const top = mkdtempSync(join(tmpdir(), "runt-processors-"));
  try {
    for (const name of ["cpu0", "cpu2", "cpu10", "cpuidle", "cpux"]) mkdirSync(join(top, name, "thermal_throttle"), { recursive: true });
    mkdirSync(join(top, "cpu1"));
    const processors = maskedProcessors(top);
    expect(processors).toEqual([0, 2, 10].map((number) => `/sys/devices/system/cpu/cpu${number}/thermal_throttle`));
    expect(maskedProcessors(join(top, "absent"))).toEqual([]);
    const all = toConfig({ rootfs: "/r", cmd: "true" }, { ...context, maskedProcessors: processors }) as ReturnType<typeof configOf>;
    expect(all.linux.maskedPaths).toEqual([...maskedPaths, ...processors]);
    const unmasked = toConfig({ rootfs: "/r", cmd: "true", unmasked: true }, { ...context, maskedProcessors: processors });
    expect((unmasked as ReturnType<typeof configOf>).linux.maskedPaths).toEqual([]);
  } finally {
    rmSync(top, { recursive: true });
  }
});

const HOST = {
  capabilities: ["CAP_CHOWN", "CAP_SYS_ADMIN"],
  devices: [
    { path: "/dev/fuse", type: "c", major: 10, minor: 229, fileMode: 0o600, uid: 0, gid: 0 },
    { path: "/dev/sda", type: "b", major: 8, minor: 0, fileMode: 0o660, uid: 0, gid: 6 },
  ],
} as const;

test("a privileged container has what this process has, and nothing is hidden from it (golden file)", async () => {
  const command: LaunchCommand = { rootfs: "/r", cmd: "true", privileged: true, cgroupParent: "/parent" };
  const privileged = (more: object) => toConfig({ ...command, ...more }, { ...context, host: HOST }) as ReturnType<typeof configOf>;
  const text = `${JSON.stringify(privileged({}), null, 2)}\n`;
  await expect(text).toMatchFileSnapshot("../../../test/golden/library/privileged.json");

  expect(privileged({ noNewPrivileges: true, capabilities: ["CAP_KILL"] }).process).toMatchObject({
    noNewPrivileges: true,
    capabilities: { effective: ["CAP_KILL"], inheritable: [], ambient: [] },
  });
  const own = { path: "/dev/fuse", type: "c", major: 1, minor: 3, access: "r" };
  expect(privileged({ devices: [own] }).linux).toMatchObject({
    devices: [{ path: "/dev/sda" }, { path: "/dev/fuse", major: 1 }],
    resources: { devices: [{ allow: true, access: "rwm" }] },
  });
  const { mounts } = privileged({
    namespaces: { network: "host" },
    mounts: [{ destination: "/sys/fs/cgroup", source: "/mine", options: ["ro"] }],
  });
  expect(mounts.filter(({ destination }) => destination.startsWith("/sys"))).toEqual([
    { destination: "/sys", type: "bind", source: "/sys", options: ["rbind", "nosuid", "noexec", "nodev"] },
    { destination: "/sys/fs/cgroup", source: "/mine", options: ["ro"] },
  ]);
});

test("in a user namespace that it joins mounts have the ids that are asked for, and what is unmasked stays as it is", () => {
  const ids = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
  const mount = { destination: "/v", type: "bind", source: "/v", options: ["rbind", "ridmap"], uidMappings: ids, gidMappings: ids };
  const { linux, mounts } = configOf({ userNamespace: "/run/users", unmasked: true, mounts: [mount] });
  expect(linux).toMatchObject({ maskedPaths: [], readonlyPaths: [] });
  expect((linux as { namespaces: unknown[] }).namespaces).toContainEqual({ type: "user", path: "/run/users" });
  expect(mounts).toContainEqual(mount);
  const config = { linux: { namespaces: [{ type: "user" }, { type: "pid" }] } };
  const completed = toConfig({ config, bundle: "/b", userNamespace: "/run/users" }, context) as { linux: { namespaces: unknown[] } };
  expect(completed.linux.namespaces).toEqual([{ type: "pid" }, { type: "user", path: "/run/users" }]);
});

test("an OCI process is taken as it is", () => {
  expect(configOf({ process: { args: ["x"], cwd: "/y" } } as never).process).toEqual({ args: ["x"], cwd: "/y", terminal: false });
});
