/** Names the specification borrows from the kernel. */

/** capabilities(7), in the order of their numbers (linux/capability.h). */
export const CAPABILITIES = [
  "CAP_CHOWN",
  "CAP_DAC_OVERRIDE",
  "CAP_DAC_READ_SEARCH",
  "CAP_FOWNER",
  "CAP_FSETID",
  "CAP_KILL",
  "CAP_SETGID",
  "CAP_SETUID",
  "CAP_SETPCAP",
  "CAP_LINUX_IMMUTABLE",
  "CAP_NET_BIND_SERVICE",
  "CAP_NET_BROADCAST",
  "CAP_NET_ADMIN",
  "CAP_NET_RAW",
  "CAP_IPC_LOCK",
  "CAP_IPC_OWNER",
  "CAP_SYS_MODULE",
  "CAP_SYS_RAWIO",
  "CAP_SYS_CHROOT",
  "CAP_SYS_PTRACE",
  "CAP_SYS_PACCT",
  "CAP_SYS_ADMIN",
  "CAP_SYS_BOOT",
  "CAP_SYS_NICE",
  "CAP_SYS_RESOURCE",
  "CAP_SYS_TIME",
  "CAP_SYS_TTY_CONFIG",
  "CAP_MKNOD",
  "CAP_LEASE",
  "CAP_AUDIT_WRITE",
  "CAP_AUDIT_CONTROL",
  "CAP_SETFCAP",
  "CAP_MAC_OVERRIDE",
  "CAP_MAC_ADMIN",
  "CAP_SYSLOG",
  "CAP_WAKE_ALARM",
  "CAP_BLOCK_SUSPEND",
  "CAP_AUDIT_READ",
  "CAP_PERFMON",
  "CAP_BPF",
  "CAP_CHECKPOINT_RESTORE",
] as const;

/** config-linux, namespaces. */
export const NAMESPACE_TYPES = ["cgroup", "ipc", "mount", "network", "pid", "time", "user", "uts"] as const;

/** getrlimit(2). */
export const RLIMIT_TYPES = [
  "RLIMIT_AS",
  "RLIMIT_CORE",
  "RLIMIT_CPU",
  "RLIMIT_DATA",
  "RLIMIT_FSIZE",
  "RLIMIT_LOCKS",
  "RLIMIT_MEMLOCK",
  "RLIMIT_MSGQUEUE",
  "RLIMIT_NICE",
  "RLIMIT_NOFILE",
  "RLIMIT_NPROC",
  "RLIMIT_RSS",
  "RLIMIT_RTPRIO",
  "RLIMIT_RTTIME",
  "RLIMIT_SIGPENDING",
  "RLIMIT_STACK",
] as const;

/** config, POSIX-platform hooks, in the order in which they run. */
export const HOOK_KINDS = ["prestart", "createRuntime", "createContainer", "startContainer", "poststart", "poststop"] as const;
