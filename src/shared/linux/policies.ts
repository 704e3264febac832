/** Names of `process.scheduler`, `process.ioPriority`, `linux.memoryPolicy` and `linux.personality`, and their numbers in the kernel. */

/** linux/sched.h. SCHED_ISO is a number without an implementation: the kernel refuses it. */
export const SCHEDULER_POLICIES = {
  SCHED_OTHER: 0,
  SCHED_FIFO: 1,
  SCHED_RR: 2,
  SCHED_BATCH: 3,
  SCHED_ISO: 4,
  SCHED_IDLE: 5,
  SCHED_DEADLINE: 6,
} as const satisfies Record<string, number>;

/** linux/sched.h. */
export const SCHEDULER_FLAGS = {
  SCHED_FLAG_RESET_ON_FORK: 0x01,
  SCHED_FLAG_RECLAIM: 0x02,
  SCHED_FLAG_DL_OVERRUN: 0x04,
  SCHED_FLAG_KEEP_POLICY: 0x08,
  SCHED_FLAG_KEEP_PARAMS: 0x10,
  SCHED_FLAG_UTIL_CLAMP_MIN: 0x20,
  SCHED_FLAG_UTIL_CLAMP_MAX: 0x40,
} as const satisfies Record<string, number>;

/** linux/ioprio.h. */
export const IO_PRIORITY_CLASSES = {
  IOPRIO_CLASS_RT: 1,
  IOPRIO_CLASS_BE: 2,
  IOPRIO_CLASS_IDLE: 3,
} as const satisfies Record<string, number>;

/** linux/mempolicy.h. */
export const MEMORY_POLICY_MODES = {
  MPOL_DEFAULT: 0,
  MPOL_PREFERRED: 1,
  MPOL_BIND: 2,
  MPOL_INTERLEAVE: 3,
  MPOL_LOCAL: 4,
  MPOL_PREFERRED_MANY: 5,
  MPOL_WEIGHTED_INTERLEAVE: 6,
} as const satisfies Record<string, number>;

/** linux/mempolicy.h. */
export const MEMORY_POLICY_FLAGS = {
  MPOL_F_NUMA_BALANCING: 0x2000,
  MPOL_F_RELATIVE_NODES: 0x4000,
  MPOL_F_STATIC_NODES: 0x8000,
} as const satisfies Record<string, number>;

/** linux/personality.h. */
export const PERSONALITY_DOMAINS = { LINUX: 0, LINUX32: 8 } as const satisfies Record<string, number>;
