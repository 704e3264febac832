/**
 * What a host offers, as a document: `runt check -f json` prints it, `--host FILE` reads it. The one source of its type, its validator
 * and its published schema. Structure only, like the configuration's.
 */
import { z } from "zod";
import { flag, text, texts, uint32 } from "./common.ts";

const manager = z
  .object({
    /** Path of its socket; "@..." is abstract. */
    socket: text,
    /** The manager's own socket, without a message bus in between. */
    direct: flag,
    version: uint32,
    /** The manager's own cgroup: "" for that of the system. */
    root: text,
  })
  .optional();

/** One row of /proc/PID/uid_map. */
const idRange = z.object({ inside: uint32, outside: uint32, size: uint32 });

export const hostFacts = z.object({
  /** Version of this document: 1. */
  hostFacts: uint32,
  /** Version of runt that wrote it. */
  recordedBy: text,
  kernel: z.object({
    /** As uname(2) says: "6.1.0-18-amd64". */
    release: text,
    /** "amd64" or "arm64". */
    architecture: text,
    /** System calls that runt prefers to older ones, as far as the kernel's version has them. */
    systemCalls: texts,
    /** Filesystems whose mounts can map ids, as far as the kernel's version says. */
    idmappedFilesystems: texts,
    /** vm.memfd_noexec: 0 allowed, 1 must be asked for, 2 refused. */
    memfdNoexec: uint32,
  }),
  /** The process that recorded, which is taken for the one that would make the container. */
  caller: z.object({
    uid: uint32,
    gid: uint32,
    /** It is in a user namespace other than the initial one. */
    inUserNamespace: flag,
    uidMap: z.array(idRange),
    gidMap: z.array(idRange),
    /** May setgroups(2) be called in its user namespace. */
    setgroups: flag,
    /** Absolute paths of the setuid programs. */
    newuidmap: text.optional(),
    newgidmap: text.optional(),
    /** Where the states of its containers are when --root does not say. */
    stateRoot: text.optional(),
    /** Names of the capabilities that it has, and that it could ever have. */
    effective: texts,
    bounding: texts,
    /** It is under a system call filter itself. */
    filtered: flag,
    /** Its resource limits by name, soft and hard; "unlimited" or decimal. */
    rlimits: z.record(text, texts),
  }),
  cgroup: z.object({
    /** 1 or 2. */
    version: uint32,
    hierarchies: z.array(
      z.object({
        mountpoint: text,
        controllers: texts,
        /** The caller may make cgroups at its root. */
        writable: flag,
      }),
    ),
    /** Hybrid hosts: where the v2 hierarchy is mounted beside those of v1. */
    unified: text.optional(),
    /** Names of the files of cgroups below the roots: "cgroup.kill", "memory.memsw.limit_in_bytes", ... Empty when there are none. */
    files: texts,
  }),
  systemd: z.object({ system: manager, user: manager }),
  /** Kinds of namespaces the kernel has, in OCI names. */
  namespaces: texts,
  /** How many user namespaces may be made (user.max_user_namespaces). */
  userNamespaces: uint32,
  /** Capabilities that the kernel knows, in the order of their numbers. */
  capabilities: texts,
  seccomp: z.object({
    /** "SCMP_ACT_ERRNO", as the kernel lists them; empty when it does not say. */
    actions: texts,
    /** "SECCOMP_FILTER_FLAG_LOG", as far as the kernel's version has them. */
    flags: texts,
  }),
  security: z.object({
    /** Modules in force, as the kernel lists them; empty when it does not say. */
    modules: texts,
    apparmor: flag,
    selinux: flag,
  }),
  /** Names of /proc/filesystems: what is built in or loaded. */
  filesystems: texts,
  /** Groups and single names below /proc/sys that containers set: "kernel.shmmax", "net.ipv4", "fs.mqueue". */
  sysctls: texts,
  cpus: z.object({
    /** List of CPUs, "0-3". */
    online: text,
    /** List of memory nodes. */
    memoryNodes: text,
    /** The same of those that may come online; left out where the kernel does not say. */
    possible: text.optional(),
    possibleNodes: text.optional(),
  }),
  memory: z.object({
    /** MiB. */
    total: uint32,
    swap: uint32,
    /** As resources name them: "2MB". */
    hugepageSizes: texts,
  }),
  limits: z.object({
    /** fs.nr_open: the highest RLIMIT_NOFILE. */
    nrOpen: uint32,
    pidMax: uint32,
    threadsMax: uint32,
    /** fs.mount-max. */
    mountMax: uint32,
  }),
  /** I/O schedulers of the block devices: "bfq", "mq-deadline". */
  ioSchedulers: texts,
  resctrl: z.object({
    /** Where it is mounted. */
    mount: text.optional(),
    /** Names of its control groups. */
    groups: texts,
    /** Names of its monitoring groups, with the path of the group they are in: "gold/mon_groups/web". */
    monitors: texts,
  }),
  rdmaDevices: texts,
  /** With --measure: how long the kernel takes to move a process into a cgroup, and what makes that shorter. */
  cgroupMoves: z
    .object({
      medianMicroseconds: uint32,
      fastestMicroseconds: uint32,
      /** A runtime that joins by cgroup.procs waits in each. */
      hierarchies: uint32,
      /** /sys/kernel/rcu_expedited. */
      rcuExpedited: flag,
      /** Mount option of cgroup2. */
      favorDynamicMods: flag,
    })
    .optional(),
  /** Names of the network devices in the caller's network namespace. */
  netDevices: texts,
  /** Absolute path of criu(8). */
  criu: text.optional(),
  /** Of the last virtual machine that was booted since the host was. */
  machines: z
    .object({
      /** "kvm", or "tcg": software emulation. */
      accelerator: text,
      bootMilliseconds: uint32,
    })
    .optional(),
});
