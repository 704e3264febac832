/**
 * In which operation a container's creation is, to be seen while it hangs. The runtime and the helper store numbers into a page of memory,
 * which `inspect` reads through /proc/PID/fd of the runtime (src/shared/protocol/page.ts). A store, no system call.
 */
import { PAGE_BYTES, PAGE_WORD, PROGRESS_NAME } from "../../shared/protocol/index.ts";
import * as host from "../host/index.ts";

export interface Progress {
  /** Descriptor of the page, for the helper. */
  readonly fd: number;
  readonly page: ArrayBuffer;
  /** The runtime begins this operation. `id`: its number in src/shared/protocol. */
  enter(index: number, id: number): void;
  helper(pid: number): void;
  init(pid: number): void;
  /**
   * What is to be made before there is a plan: CLONE_NEW* of the namespaces that the intermediate unshares, and of the clone of init (0: none), and the file
   * systems that this init makes (head-start/file-systems.ts).
   */
  hint(unshared: number, clone: number, fileSystems: number): void;
  /** One more of the container's cgroups is made: init, which looks at the page, need not wait for the message. */
  cgroup(): void;
}

export function showProgress(): Progress {
  const { fd, page } = host.sharedPage(PROGRESS_NAME, PAGE_BYTES);
  const words = new Uint32Array(page);
  return {
    fd,
    page,
    enter(index, id) {
      words[PAGE_WORD.runtime] = index + 1;
      words[PAGE_WORD.runtimeOperation] = id;
    },
    helper: (pid) => {
      words[PAGE_WORD.helperPid] = pid;
    },
    init: (pid) => {
      words[PAGE_WORD.initPid] = pid;
    },
    hint(unshared, clone, fileSystems) {
      words[PAGE_WORD.namespaces] = unshared;
      words[PAGE_WORD.clone] = clone;
      words[PAGE_WORD.fileSystems] = fileSystems;
    },
    cgroup() {
      words[PAGE_WORD.cgroups]!++;
    },
  };
}
