/** Names the specification borrows from the kernel. */

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
