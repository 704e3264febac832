/** Messages on the SOCK_SEQPACKET pair between the runtime and the helper: the rendezvous. */

/**
 * The head of a message, in words of 32 bits. `op`: index in the plan. The path and the text follow it.
 * `pid` carries the pid in `value`; `console` carries one descriptor (SCM_RIGHTS) and the tty name in `text`.
 */
export const MESSAGE_HEAD = { type: "u32", op: "u32", error: "i32", value: "i32", pathLength: "u32", textLength: "u32" } as const;

export const MESSAGES = {
  /** helper -> runtime: init exists; value = its pid as the runtime sees it. */
  pid: 1,
  /** runtime -> init: id maps are written, network devices are there: go on. */
  go: 2,
  /** init -> runtime: everything that can fail before execve is done; in a plan of run perhaps only all that has to do with mounts. */
  ready: 3,
  /** helper -> runtime: an operation failed; the helper exits after it. value = status of a child if there was one. */
  error: 4,
  /** helper -> runtime: an operation was skipped or reduced by its table of outcomes. */
  warning: 5,
  /** runtime -> init: state is on disk; the container no longer dies with the runtime. */
  commit: 6,
  /** init -> runtime: the console's master side. */
  console: 7,
  /** init -> runtime: mounts are made; the hooks of the runtime's namespaces may run. */
  hooks: 8,
  /** runtime -> init: they have run. */
  resume: 9,
  /** init -> runtime: the seccomp listener's descriptor. */
  listener: 10,
  /** runtime -> init: the cgroups are made and limited: join them. */
  cgroup: 11,
  /** runtime -> init: a descriptor of the seccomp filter's BPF program. */
  filter: 12,
  /** runtime -> intermediate: the plan's descriptor, for a helper that was started before there was a plan. */
  plan: 13,
  /** runtime -> intermediate, before the plan: which namespaces to make is told in the shared page (page.ts). */
  namespaces: 14,
  /** runtime -> intermediate, on a hybrid host: the directory of v2 that init is cloned into is made. */
  birthplace: 15,
} as const;
