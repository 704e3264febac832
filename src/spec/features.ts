/** The features document (runtime-spec features and features-linux): what this build can do, whatever the host. Only what works. */
import { CAPABILITIES, HOOK_KINDS, NAMESPACE_TYPES } from "./names.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES, SECCOMP_FLAGS, SECCOMP_OPERATORS } from "./seccomp.ts";
import { OCI_VERSION_MAX, OCI_VERSION_MIN } from "./version.ts";

export interface BuildInfo {
  readonly version: string;
  /** May be empty. */
  readonly commit: string;
}

/** Sorted. Written out because it is published; a test holds it equal to the option table. */
export const MOUNT_OPTION_NAMES = [
  "async",
  "atime",
  "bind",
  "defaults",
  "dev",
  "diratime",
  "dirsync",
  "exec",
  "iversion",
  "lazytime",
  "loud",
  "mand",
  "noatime",
  "nodev",
  "nodiratime",
  "noexec",
  "noiversion",
  "nolazytime",
  "nomand",
  "norelatime",
  "nostrictatime",
  "nosuid",
  "nosymfollow",
  "private",
  "ratime",
  "rbind",
  "rdev",
  "rdiratime",
  "relatime",
  "remount",
  "rexec",
  "rnoatime",
  "rnodev",
  "rnodiratime",
  "rnoexec",
  "rnorelatime",
  "rnostrictatime",
  "rnosuid",
  "rnosymfollow",
  "ro",
  "rprivate",
  "rrelatime",
  "rro",
  "rrw",
  "rshared",
  "rslave",
  "rstrictatime",
  "rsuid",
  "rsymfollow",
  "runbindable",
  "rw",
  "shared",
  "silent",
  "slave",
  "strictatime",
  "suid",
  "symfollow",
  "sync",
  "tmpcopyup",
  "unbindable",
] as const;

/** JSON value of the document. Empty lists and false mean "not supported"; an absent field would mean "unknown". */
export function featuresDocument({ version, commit }: BuildInfo) {
  return {
    ociVersionMin: OCI_VERSION_MIN,
    ociVersionMax: OCI_VERSION_MAX,
    hooks: HOOK_KINDS,
    mountOptions: MOUNT_OPTION_NAMES,
    linux: {
      namespaces: NAMESPACE_TYPES,
      capabilities: CAPABILITIES,
      cgroup: { v1: true, v2: true, systemd: false, systemdUser: false, rdma: true },
      seccomp: {
        enabled: true,
        actions: Object.keys(SECCOMP_ACTIONS),
        operators: Object.keys(SECCOMP_OPERATORS),
        archs: Object.keys(SECCOMP_ARCHITECTURES),
        knownFlags: Object.keys(SECCOMP_FLAGS),
        supportedFlags: Object.keys(SECCOMP_FLAGS),
      },
      apparmor: { enabled: true },
      selinux: { enabled: true },
      intelRdt: { enabled: false },
      memoryPolicy: { modes: [] as readonly string[], flags: [] as readonly string[] },
      mountExtensions: { idmap: { enabled: false } },
      netDevices: { enabled: false },
    },
    annotations: {
      "org.opencontainers.runt.version": version,
      ...(commit !== "" && { "org.opencontainers.runt.commit": commit }),
    },
    potentiallyUnsafeConfigAnnotations: [] as readonly string[],
  };
}
