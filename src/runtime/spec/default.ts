/** The configuration `spec` writes: a shell with a terminal in a read-only root filesystem, as runc's command of that name. */
import { HOST_SYSFS_OPTIONS, MASKED_PATHS, READONLY_PATHS, USUAL_MOUNTS, USUAL_PATH } from "../../shared/linux/index.ts";
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

// No ambient set: programs that are not root would get these capabilities without asking for them.
const CAPABILITIES = ["CAP_AUDIT_WRITE", "CAP_KILL", "CAP_NET_BIND_SERVICE"];

function mounts(rootless: boolean): SpecMount[] {
  const usual = USUAL_MOUNTS.map(({ options, ...mount }): SpecMount => {
    if (rootless && mount.type === "sysfs") return { ...mount, type: "none", source: "/sys", options: [...HOST_SYSFS_OPTIONS] };
    // The tty group is not mapped in a rootless container.
    return options ? { ...mount, options: options.filter((option) => !rootless || option !== "gid=5") } : mount;
  });
  const cgroup = {
    destination: "/sys/fs/cgroup",
    type: "cgroup",
    source: "cgroup",
    options: ["nosuid", "noexec", "nodev", "relatime", "ro"],
  };
  return [...usual, cgroup];
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
      env: [`PATH=${USUAL_PATH}`, "TERM=xterm"],
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
      maskedPaths: [...MASKED_PATHS],
      readonlyPaths: [...READONLY_PATHS],
    },
  };
}
