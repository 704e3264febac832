/** The features document (runtime-spec features and features-linux): what this build can do, whatever the host. Only what works. */
import { CAPABILITIES, MEMORY_POLICY_FLAGS, MEMORY_POLICY_MODES } from "../../shared/linux/index.ts";
import { HOOK_KINDS, NAMESPACE_TYPES } from "./names.ts";
import { SECCOMP_ACTIONS, SECCOMP_ARCHITECTURES, SECCOMP_FLAGS, SECCOMP_OPERATORS } from "./seccomp.ts";

export interface BuildInfo {
  readonly version: string;
  /** May be empty. */
  readonly commit: string;
}

/** Sorted. Written out because it is published; a test holds it equal to the option table. */
const MOUNT_OPTION_NAMES = [
  "async",
  "atime",
  "bind",
  "copy-symlink",
  "defaults",
  "dest-nofollow",
  "dev",
  "diratime",
  "dirsync",
  "exec",
  "idmap",
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
  "rasync",
  "ratime",
  "rbind",
  "rdev",
  "rdiratime",
  "rdirsync",
  "relatime",
  "remount",
  "rexec",
  "ridmap",
  "rmand",
  "rnoatime",
  "rnodev",
  "rnodiratime",
  "rnoexec",
  "rnomand",
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
  "rsync",
  "runbindable",
  "rw",
  "shared",
  "silent",
  "slave",
  "src-nofollow",
  "strictatime",
  "suid",
  "symfollow",
  "sync",
  "tmpcopyup",
  "unbindable",
] as const;

/** Annotations by which a container becomes more than its configuration says; one that ends in a dot is the beginning of many. */
export const UNSAFE_ANNOTATIONS = [
  "io.runt.default-device-rules",
  "io.runt.template",
  "org.criu.config",
  "org.systemd.property.",
  "run.oci.keep_original_groups",
  "run.oci.seccomp_fail_unknown_syscall",
] as const;

/** What depends on other programs of the host. */
export interface HostPrograms {
  readonly criu: boolean;
}

/** JSON value of the document. Empty lists and false mean "not supported"; an absent field would mean "unknown". */
export function featuresDocument({ version, commit }: BuildInfo, { criu }: HostPrograms) {
  return {
    ociVersionMin: OCI_VERSION_MIN,
    ociVersionMax: OCI_VERSION_MAX,
    hooks: HOOK_KINDS,
    mountOptions: MOUNT_OPTION_NAMES,
    linux: {
      namespaces: NAMESPACE_TYPES,
      capabilities: CAPABILITIES,
      cgroup: { v1: true, v2: true, systemd: true, systemdUser: true, rdma: true },
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
      intelRdt: { enabled: true, schemata: true, monitoring: true },
      memoryPolicy: { modes: Object.keys(MEMORY_POLICY_MODES), flags: Object.keys(MEMORY_POLICY_FLAGS) },
      mountExtensions: { idmap: { enabled: true } },
      netDevices: { enabled: true },
    },
    annotations: {
      "org.opencontainers.runt.version": version,
      // Under the name that every engine knows.
      "org.opencontainers.runc.checkpoint.enabled": String(criu),
      ...(commit !== "" && { "org.opencontainers.runt.commit": commit }),
    },
    potentiallyUnsafeConfigAnnotations: UNSAFE_ANNOTATIONS,
  };
}

/** The range of ociVersion that is known: what features reports and what checks compare with. */
const OCI_VERSION_MIN = "1.0.0";
export const OCI_VERSION_MAX = "1.3.0";
