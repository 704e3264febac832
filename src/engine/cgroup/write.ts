/** Writes files of one cgroup. It keeps a descriptor of the directory, so that it never writes to a new cgroup of the same name. */
import { closeSync, constants, openSync, writeSync } from "node:fs";

/** A limit in the format of the kernel. */
export interface LimitWrite {
  /** Such as "memory", as in the hierarchies of v1 and in cgroup.controllers of v2. */
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  /** A kernel without this controller or file already behaves as the value asks, so that its absence is no error. */
  readonly isOptional?: boolean;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_WRONLY } = constants;

/** @throws CgroupWriteError */
export function writeFiles(directory: string, writes: readonly LimitWrite[]): void {
  if (writes.length === 0) return;
  const fd = openSync(directory, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    for (const one of writes) write(fd, directory, one);
  } finally {
    closeSync(fd);
  }
}

function write(directory: number, path: string, { file, value, isOptional = false }: LimitWrite): void {
  try {
    // Without O_CREAT, because the file of a missing controller does not exist and must not be created.
    const fd = openSync(`/proc/self/fd/${directory}/${file}`, O_WRONLY | O_NOFOLLOW);
    try {
      writeSync(fd, value);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && isOptional) return;
    // The error of the system call is no cause: its message has the path of the descriptor, which nobody has written.
    throw new CgroupWriteError(`cannot write ${value} to ${path}/${file}: ${code}`);
  }
}

export class CgroupWriteError extends Error {}
