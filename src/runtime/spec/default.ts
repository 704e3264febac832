/** The configuration `spec` writes: a shell with a terminal in a read-only root filesystem, as runc's command of that name. */
import type { Spec, SpecMount } from "./types.ts";

export interface DefaultSpecOptions {
  /** For a caller without privileges: a user namespace that maps only the caller, no network namespace, no limits. */
  readonly rootless: boolean;
  readonly euid: number;
  readonly egid: number;
  /** The host has cgroup v2: the container gets a cgroup namespace. */
  readonly cgroup2: boolean;
}

// Not the newest version: the document uses nothing newer, and crun 1.8.1 (Debian 12) refuses every version from 1.2.0 on.
const OCI_VERSION = "1.0.2";

const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

// No ambient set: programs that are not root would get these capabilities without asking for them.
const CAPABILITIES = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"];

const SYSFS: SpecMount = { destination: "/sys", type: "sysfs", source: "sysfs", options: ["nosuid", "noexec", "nodev", "ro"] };

// Without a network namespace of its own the container may not mount a sysfs of its own.
const SYSFS_OF_HOST: SpecMount = {
  destination: "/sys",
  type: "none",
  source: "/sys",
  options: ["rbind", "nosuid", "noexec", "nodev", "ro"],
};

function mounts(rootless: boolean): SpecMount[] {
  const ptsOptions = ["nosuid", "noexec", "newinstance", "ptmxmode=0666", "mode=0620"];
  return [
    { destination: "/proc", type: "proc", source: "proc" },
    { destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] },
    // The tty group is not mapped in a rootless container.
    { destination: "/dev/pts", type: "devpts", source: "devpts", options: rootless ? ptsOptions : [...ptsOptions, "gid=5"] },
    { destination: "/dev/shm", type: "tmpfs", source: "shm", options: ["nosuid", "noexec", "nodev", "mode=1777", "size=65536k"] },
    { destination: "/dev/mqueue", type: "mqueue", source: "mqueue", options: ["nosuid", "noexec", "nodev"] },
    rootless ? SYSFS_OF_HOST : SYSFS,
    { destination: "/sys/fs/cgroup", type: "cgroup", source: "cgroup", options: ["nosuid", "noexec", "nodev", "relatime", "ro"] },
  ];
}

function namespaces({ rootless, cgroup2 }: DefaultSpecOptions): { type: string }[] {
  const types = rootless ? ["pid", "ipc", "uts", "mount"] : ["pid", "network", "ipc", "uts", "mount"];
  if (cgroup2) types.push("cgroup");
  if (rootless) types.push("user");
  return types.map((type) => ({ type }));
}

/** Fields in the order in which they are written. */
export function defaultSpec(options: DefaultSpecOptions): Spec {
  const { rootless, euid, egid } = options;
  return {
    ociVersion: OCI_VERSION,
    process: {
      terminal: true,
      user: { uid: 0, gid: 0 },
      args: ["sh"],
      env: [`PATH=${PATH}`, "TERM=xterm"],
      cwd: "/",
      capabilities: { bounding: CAPABILITIES, effective: CAPABILITIES, permitted: CAPABILITIES },
      rlimits: [{ type: "RLIMIT_NOFILE", hard: 1024, soft: 1024 }],
      noNewPrivileges: true,
    },
    root: { path: "rootfs", readonly: true },
    hostname: "runt",
    mounts: mounts(rootless),
    linux: {
      ...(rootless
        ? {
            uidMappings: [{ containerID: 0, hostID: euid, size: 1 }],
            gidMappings: [{ containerID: 0, hostID: egid, size: 1 }],
          }
        : { resources: { devices: [{ allow: false, access: "rwm" }] } }),
      namespaces: namespaces(options),
      maskedPaths: [
        "/proc/acpi",
        "/proc/asound",
        "/proc/kcore",
        "/proc/keys",
        "/proc/latency_stats",
        "/proc/timer_list",
        "/proc/timer_stats",
        "/proc/sched_debug",
        "/sys/firmware",
        "/proc/scsi",
      ],
      readonlyPaths: ["/proc/bus", "/proc/fs", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"],
    },
  };
}
