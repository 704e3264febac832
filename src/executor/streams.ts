/** The caller's ends of an executor's FIFOs: its standard streams, and the size of its terminal. */
import { closeSync, constants } from "node:fs";
import { Socket } from "node:net";
import type { Readable, Writable } from "node:stream";
import type { Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import type { TerminalSize } from "./launch/command.ts";
import { checkSize, writeSize } from "./launch/size.ts";
import { pipePath, type StreamName, sizePath } from "./launch/stdio.ts";
import { type Life, readOutput } from "./output.ts";
import { openOwnFifo } from "./own/file.ts";

function writerOf(fd: number): Socket {
  const stdin = new Socket({ fd, readable: false, writable: true });
  // Its reader may go before all is written.
  stdin.on("error", () => stdin.destroy());
  return stdin;
}

export class Streams {
  readonly #directory: Directory;
  readonly #outputs = new Map<StreamName, Readable>();
  /** With stdio.stdin "pipe", in the process that has launched it. */
  stdin: Writable | undefined;

  constructor(directory: Directory) {
    this.#directory = directory;
  }

  openStdin(fd: number): void {
    this.stdin = writerOf(fd);
  }

  /** A further writer to a stdin that stays open. @throws ExecutorError wrong-state: it has none, or has ended */
  writeStdin(): Writable {
    const path = pipePath(this.#directory.path, "stdin");
    try {
      return writerOf(openOwnFifo(path, constants.O_WRONLY | constants.O_NONBLOCK));
    } catch (error) {
      const reason = { ENOENT: "has no standard input", ENXIO: "has ended, or has closed its standard input" }[
        (error as { code: string }).code
      ];
      if (reason === undefined) throw error;
      throw new ExecutorError("wrong-state", `executor ${this.#directory.id} ${reason}`);
    }
  }

  /** The same for every caller. */
  output(name: StreamName, life: Life): Readable {
    const known = this.#outputs.get(name);
    if (known) return known;
    const { path, record } = this.#directory;
    const output = readOutput({ fifo: pipePath(path, name), saved: `${record}.${name}`, life });
    this.#outputs.set(name, output);
    return output;
  }

  /** @throws ExecutorError invalid-argument; wrong-state: there is no terminal, or it has ended; stuck */
  resize(size: TerminalSize): void {
    checkSize("size", size);
    let fd: number;
    try {
      fd = openOwnFifo(sizePath(this.#directory.path), constants.O_WRONLY | constants.O_NONBLOCK);
    } catch (error) {
      const reason = { ENOENT: "has no terminal", ENXIO: "has ended, or nobody watches over its terminal" }[
        (error as { code: string }).code
      ];
      if (reason === undefined) throw error;
      throw new ExecutorError("wrong-state", `executor ${this.#directory.id} ${reason}`);
    }
    try {
      writeSize(fd, size);
    } finally {
      closeSync(fd);
    }
  }
}
