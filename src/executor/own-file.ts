/**
 * Files and FIFOs in an executor's directory. What has their name may be something else by now: no link is followed, nothing waits for the other end of
 * a FIFO, and what was opened has to be of the right kind, and a file of this user's or root's, before anything is done with it.
 */
import { closeSync, constants, fstatSync, openSync, readFileSync, rmSync, type Stats, writeFileSync } from "node:fs";
import { ExecutorError } from "./errors.ts";

const { O_NOCTTY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;
/** Records and configurations are smaller. */
const LARGEST = 64 << 20;

/** @throws ExecutorError state-unreadable; what openSync throws, ENOENT above all */
export function readOwnFile(path: string, largest = LARGEST): Buffer {
  const isOwn = (found: Stats) => found.isFile() && found.size <= largest && (found.uid === 0 || found.uid === process.geteuid?.());
  const fd = openChecked(path, O_RDONLY, isOwn, "no regular file of this user's");
  try {
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Of whatever user: the runtime gives a container's streams to the user of its program, and nobody else can make one in the executor's directory.
 * @throws ExecutorError state-unreadable; what openSync throws: ENOENT, or ENXIO without a reader
 */
export function openOwnFifo(path: string, flags: number): number {
  return openChecked(path, flags, (found) => found.isFIFO(), "no FIFO");
}

/** Made anew: what has this name is removed and never opened. */
export function writeOwnFile(path: string, text: string): void {
  const options = { mode: 0o600, flag: "wx" };
  try {
    writeFileSync(path, text, options);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    rmSync(path);
    writeFileSync(path, text, options);
  }
}

function openChecked(path: string, flags: number, isRight: (found: Stats) => boolean, otherwise: string): number {
  let fd: number;
  try {
    fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ELOOP") throw error;
    throw new ExecutorError("state-unreadable", `${path} is a symbolic link`, { path }, error);
  }
  const found = fstatSync(fd);
  if (isRight(found)) return fd;
  closeSync(fd);
  throw new ExecutorError("state-unreadable", `${path} is ${otherwise}`, { path });
}
