/** How an executor isolates a program unless told otherwise, and what Linux has: data. Sources: capabilities(7), the OCI specification's defaults. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import {
  CAPABILITIES,
  HOST_SYSFS_OPTIONS,
  READONLY_PATHS,
  MASKED_PATHS as USUAL_MASKS,
  USUAL_MOUNTS,
  USUAL_PATH,
} from "../shared/linux/index.ts";

/**
 * The capabilities of this kernel, lowest first, a newer kernel's further ones as "CAP_41" and so on: up to cap_last_cap, or where that cannot be read, those the bounding set of this
 * process has a bit for, or else all that are known here.
 */
export function hostCapabilities(read = (path: string): string => readFileSync(path, "utf8")): string[] {
  return Array.from({ length: lastCapability(read) + 1 }, (_, number) => CAPABILITIES[number] ?? `CAP_${number}`);
}

function lastCapability(read: (path: string) => string): number {
  const last = Number.parseInt(attempt(() => read("/proc/sys/kernel/cap_last_cap")) ?? "", 10);
  if (Number.isInteger(last)) return last;
  const bounding = /^CapBnd:\s*([0-9a-f]+)$/m.exec(attempt(() => read("/proc/self/status")) ?? "")?.[1];
  if (bounding === undefined || /^0+$/.test(bounding)) return CAPABILITIES.length - 1;
  return BigInt(`0x${bounding}`).toString(2).length - 1;
}

function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

/** What a program that runs as root gets; what it may get, as any user (bounding set). None is ambient. */
export const DEFAULT_CAPABILITIES: readonly string[] = [
  "CAP_AUDIT_WRITE",
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_MKNOD",
  "CAP_NET_BIND_SERVICE",
  "CAP_SETFCAP",
  "CAP_SETGID",
  "CAP_SETPCAP",
  "CAP_SETUID",
  "CAP_SYS_CHROOT",
];

/** Namespaces of its own. */
export const DEFAULT_NAMESPACES = ["mount", "pid", "ipc", "uts", "network", "cgroup"] as const;
export type NamespaceType = (typeof DEFAULT_NAMESPACES)[number];

export interface MountEntry {
  readonly destination: string;
  readonly type?: string;
  readonly source: string;
  readonly options: readonly string[];
}

/** In this order. */
export const DEFAULT_MOUNTS: readonly MountEntry[] = USUAL_MOUNTS.map((mount) => ({ options: ["nosuid", "noexec", "nodev"], ...mount }));

/** For a container in the network namespace of the host, which may not have a sysfs of its own in a user namespace. */
export const HOST_SYSFS: MountEntry = { destination: "/sys", type: "bind", source: "/sys", options: HOST_SYSFS_OPTIONS };

/** The container's own cgroups, which only a privileged container sees. */
export const CGROUPS: MountEntry = {
  destination: "/sys/fs/cgroup",
  type: "cgroup",
  source: "cgroup",
  options: ["nosuid", "noexec", "nodev", "relatime"],
};

/**
 * Read as empty. Those of `runc spec`, and what Docker, containerd and Kubernetes hide since: counts of interrupts and of power tell what others
 * compute and type.
 */
export const MASKED_PATHS: readonly string[] = [...USUAL_MASKS, "/proc/interrupts", "/sys/devices/virtual/powercap"];

const PROCESSORS = "/sys/devices/system/cpu";

/** And how often each processor of the host was too hot; some hosts have that. @param directory which is that of the processors */
export function maskedProcessors(directory = PROCESSORS): string[] {
  const names = attempt(() => readdirSync(directory)) ?? [];
  return names
    .filter((name) => /^cpu\d+$/.test(name) && existsSync(`${directory}/${name}/thermal_throttle`))
    .sort((a, b) => Number(a.slice(3)) - Number(b.slice(3)))
    .map((name) => `${PROCESSORS}/${name}/thermal_throttle`);
}

export { READONLY_PATHS };

/** Device nodes every container has (the OCI specification's default devices), by path: major and minor number. */
export const DEFAULT_DEVICES: Readonly<Record<string, readonly [number, number]>> = {
  "/dev/null": [1, 3],
  "/dev/zero": [1, 5],
  "/dev/full": [1, 7],
  "/dev/random": [1, 8],
  "/dev/urandom": [1, 9],
  "/dev/tty": [5, 0],
};

/** What the device cgroup of v1 lists then: nodes may be made, the ones above and terminals may be used. */
export const DEFAULT_DEVICE_RULES: readonly string[] = [
  "b *:* m",
  "c *:* m",
  "c 1:3 rwm",
  "c 1:5 rwm",
  "c 1:7 rwm",
  "c 1:8 rwm",
  "c 1:9 rwm",
  "c 5:0 rwm",
  "c 5:2 rwm",
  "c 10:200 rwm",
  "c 136:* rwm",
];

export const DEFAULT_PATH = USUAL_PATH;
