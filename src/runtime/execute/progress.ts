/**
 * In which operation a container's creation is, for whoever asks while it hangs: a page of memory that the runtime and the helper store
 * numbers into and that `inspect` reads through /proc/PID/fd of the runtime. A store, no system call. What follows these words belongs to
 * the rendezvous (native-bindings/shared/doorbell.h).
 */
import * as host from "../host/index.ts";

/** Names of the memfds, as they show in /proc/PID/fd. */
export const PROGRESS_NAME = "runt-progress";
export const PLAN_NAME = "runt-plan";

/** Words of the page; OUTER and INIT are written by native-bindings/init/main.c. Operations: index in the plan + 1, 0 = none yet. */
export const WORD = {
  RUNTIME: 0,
  OUTER: 1,
  INIT: 2,
  HELPER_PID: 3,
  INIT_PID: 4,
  RUNTIME_OP: 5,
  COUNT: 6,
  CGROUPS: 11,
  NAMESPACES: 12,
  CLONE: 13,
  FILE_SYSTEMS: 14,
} as const;

export interface Progress {
  /** Descriptor of the page, for the helper. */
  readonly fd: number;
  readonly page: ArrayBuffer;
  /** The runtime begins this operation. `id`: its number in src/shared/protocol/operations. */
  enter(index: number, id: number): void;
  helper(pid: number): void;
  init(pid: number): void;
  /**
   * What is to be made before there is a plan: CLONE_NEW* of the namespaces that outer unshares, and of the clone of init (0: none), and the file
   * systems that this init makes (head-start/file-systems.ts).
   */
  ahead(unshared: number, clone: number, fileSystems: number): void;
  /** One more of the container's cgroups is made: init, which looks at the page, need not wait for the message. */
  cgroup(): void;
}

export function showProgress(): Progress {
  const { fd, page } = host.sharedPage(PROGRESS_NAME);
  const words = new Uint32Array(page);
  return {
    fd,
    page,
    enter(index, id) {
      words[WORD.RUNTIME] = index + 1;
      words[WORD.RUNTIME_OP] = id;
    },
    helper: (pid) => {
      words[WORD.HELPER_PID] = pid;
    },
    init: (pid) => {
      words[WORD.INIT_PID] = pid;
    },
    ahead(unshared, clone, fileSystems) {
      words[WORD.NAMESPACES] = unshared;
      words[WORD.CLONE] = clone;
      words[WORD.FILE_SYSTEMS] = fileSystems;
    },
    cgroup() {
      words[WORD.CGROUPS]!++;
    },
  };
}
