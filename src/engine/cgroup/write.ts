/** Values into files of one cgroup, by the descriptor of its directory: whatever has its name later is not written. */
import { closeSync, constants, openSync, writeSync } from "node:fs";

/** A limit as the kernel takes it. */
export interface LimitWrite {
  /** "memory", as the hierarchies of v1 and cgroup.controllers of v2 name it. */
  readonly controller: string;
  readonly file: string;
  readonly value: string;
  /** What the value asks for is so anyway where the kernel has no such controller or file. */
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
    // No O_CREAT: a controller that is not there has no file.
    const fd = openSync(`/proc/self/fd/${directory}/${file}`, O_WRONLY | O_NOFOLLOW);
    try {
      writeSync(fd, value);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" && isOptional) return;
    throw new CgroupWriteError(`cannot write ${value} to ${path}/${file}: ${code}`, { cause: error });
  }
}

export class CgroupWriteError extends Error {}
