import { expect, test } from "vitest";
import { DEFAULT_CAPABILITIES, DEFAULT_MOUNTS } from "../profile.ts";
import type { LaunchCommand } from "./command.ts";
import { capabilitiesOf, toConfig } from "./config.ts";

const context = { id: "x", user: { uid: 0, gid: 0, additionalGids: [] }, cgroupVersion: 1 } as const;
const configOf = (command: Partial<LaunchCommand>) =>
  toConfig({ rootfs: "/r", cmd: "true", ...command } as LaunchCommand, context) as {
    process: Record<string, unknown>;
    hostname?: string;
    mounts: { destination: string; type?: string; source?: string }[];
    linux: { namespaces: { type: string; path?: string }[]; resources: { devices: unknown[] } };
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
  expect(configOf({ namespaces: { network: "host" } }).mounts.find(({ destination }) => destination === "/sys")?.type).toBe("bind");
});

test("devices are nodes and rules; everything else is denied", () => {
  const { linux } = configOf({ devices: [{ path: "/dev/fuse", type: "c", major: 10, minor: 229, access: "rw" }] });
  expect(linux.resources.devices).toEqual([
    { allow: false, access: "rwm" },
    { allow: true, type: "c", major: 10, minor: 229, access: "rw" },
  ]);
});

test("an OCI process is taken as it is", () => {
  expect(configOf({ process: { args: ["x"], cwd: "/y" } } as never).process).toEqual({ args: ["x"], cwd: "/y", terminal: false });
});
