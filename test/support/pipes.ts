/** Pipes whose other end misbehaves: FIFOs, since Node opens no pipe by itself. */
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { runSync } from "./run-sync.ts";

const CHUNK = Buffer.alloc(4096);

export function makeFifo(path: string): string {
  runSync("mkfifo", [path]);
  return path;
}

/** A new FIFO that is full, with a reader who does not read. Both descriptors are the caller's to close. */
export function fullPipe(path: string): { readonly reader: number; readonly writer: number } {
  makeFifo(path);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const filling = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  try {
    for (;;) writeSync(filling, CHUNK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
  } finally {
    closeSync(filling);
  }
  return { reader, writer: openSync(path, "w") };
}

/** The end to write to of a new FIFO that nobody can read. */
export function closedPipe(path: string): number {
  makeFifo(path);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    return openSync(path, "w");
  } finally {
    closeSync(reader);
  }
}
