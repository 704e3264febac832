/** The size of a terminal. */
import { writeSync } from "node:fs";
import { ExecutorError } from "../errors.ts";
import type { TerminalSize } from "./command.ts";

/** The kernel has 16 bits for each (ioctl_tty(2), TIOCSWINSZ). */
const LARGEST = 0xffff;

/** @throws ExecutorError invalid-argument */
export function checkSize(field: string, { rows, columns }: TerminalSize): void {
  for (const [name, value] of Object.entries({ rows, columns })) {
    if (Number.isInteger(value) && value >= 1 && value <= LARGEST) continue;
    throw new ExecutorError("invalid-argument", `${field}.${name}: ${value} is not between 1 and ${LARGEST}`, {
      field: `${field}.${name}`,
    });
  }
}

/**
 * Into a FIFO that `runt` reads sizes from (--resize-fifo): a line of less than PIPE_BUF bytes is written as one (pipe(7)).
 * @throws ExecutorError stuck: thousands of sizes wait in the FIFO, and none is read
 */
export function writeSize(fd: number, { rows, columns }: TerminalSize): void {
  try {
    writeSync(fd, `${rows} ${columns}\n`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
    throw new ExecutorError("stuck", "the size of the terminal cannot be set: its monitor is stopped", {}, error);
  }
}
