/** What a bare errno of an operation most likely means, where the errno alone does not tell. */
import type { OpName } from "../../shared/protocol/index.ts";

const TOO_LARGE =
  "process.args and process.env together, with a pointer to each, may take a quarter of RLIMIT_STACK, at least 128 KiB and at most 6 MiB; one string 128 KiB";

const HINTS: Partial<Record<OpName, Readonly<Record<string, string>>>> = {
  "process.exec": { E2BIG: TOO_LARGE },
  "process.scheduler": {
    EPERM:
      "a real-time policy, a deadline or a lower nice value needs CAP_SYS_NICE on the host, which a user namespace does not give; a real-time policy needs linux.resources.cpu.realtimeRuntime on some kernels; with a deadline the process scheduler can't be used together with AllowedCPUs (linux.resources.cpu.cpus), it needs all CPUs of the machine",
    EINVAL: "this kernel has no such policy, or not with these values",
    EBUSY: "the machine has not enough time left for this deadline",
    EOPNOTSUPP: "this kernel has no utilisation clamping",
  },
  "process.ioPriority": { EPERM: "IOPRIO_CLASS_RT needs CAP_SYS_NICE or CAP_SYS_ADMIN on the host, which a user namespace does not give" },
  "process.memoryPolicy": {
    EINVAL:
      "none of the nodes is there and allowed for the container, or this kernel has no such mode or flag (MPOL_PREFERRED_MANY: 5.15, MPOL_WEIGHTED_INTERLEAVE: 6.9)",
    ENOSYS: "this kernel is built without NUMA",
  },
  "process.personality": { EINVAL: "this machine runs no 32-bit programs" },
  "mount.bind": {
    EINVAL: "a file can be mounted on a file only, and a directory on a directory; a source that is unbindable cannot be mounted at all",
  },
  // init stands in the user namespace already when it goes there.
  "root.open": { EACCES: "every directory above it must be searchable for the container's root user" },
};

/** `code` is the name of the errno. */
export function kernelHint(op: OpName | undefined, code: string): string | undefined {
  return op && HINTS[op]?.[code];
}
