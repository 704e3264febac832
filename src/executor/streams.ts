/** The caller's ends of an executor's FIFOs: its standard streams, and the size of its terminal. */
import { closeSync, constants, existsSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { Readable, type Writable } from "node:stream";
import type { Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import type { TerminalSize } from "./launch/command.ts";
import { checkSize, writeSize } from "./launch/size.ts";
import { pipePath, type StreamName, sizePath } from "./launch/stdio.ts";
import { openOwnFifo, readOwnFile } from "./own/file.ts";

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
      const reason = { ENOENT: "has no terminal", ENXIO: "has ended, or its monitor is gone" }[(error as { code: string }).code];
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

/** The caller's end of an output FIFO: it may be opened, left and opened again, also by another process. */
const { O_NONBLOCK, O_RDONLY } = constants;
const CHUNK = 65_536;

interface OutputSource {
  /** The FIFO. */
  readonly fifo: string;
  /** What the monitor has saved of it while there was no reader. */
  readonly saved: string;
  readonly life: Life;
}

interface Life {
  /** Settles when nothing of the container is left. */
  readonly ended: Promise<unknown>;
  /** Keep this process alive for that, or not any more. */
  hold(on: boolean): void;
}

/** Unread output, and what the container prints from now on. Ends with the container. */
function readOutput({ fifo, saved, life }: OutputSource): Readable {
  const fd = openOwnFifo(fifo, O_RDONLY | O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  let isHeld = false;
  const output = new Readable({
    read() {
      // Whoever reads waits for the end.
      if (!isHeld) life.hold(true);
      isHeld = true;
      socket.resume();
    },
    destroy(error, done) {
      if (isHeld) life.hold(false);
      socket.destroy();
      done(error);
    },
  });
  let isOpen = true;
  socket.on("data", (chunk: Buffer) => {
    if (!output.push(chunk)) socket.pause();
  });
  socket.on("error", (error) => output.destroy(error));
  socket.on("close", () => {
    isOpen = false;
  });
  const finish = () => {
    if (output.destroyed) return;
    try {
      // Whether the kernel reports the end of a FIFO depends on who had it open when: what is in it is taken by hand.
      if (isOpen) for (const chunk of drain(fifo, socket)) output.push(chunk);
      if (existsSync(saved)) output.push(readOwnFile(saved, Number.POSITIVE_INFINITY));
      output.push(null);
    } catch (error) {
      // Something else is in the place of the one or the other.
      output.destroy(error as Error);
    }
  };
  life.ended.then(finish, finish);
  return output;
}

function* drain(fifo: string, socket: Socket): Generator<Buffer> {
  // The reading end that is open keeps what is in the FIFO; this one shares it.
  const fd = openOwnFifo(fifo, O_RDONLY | O_NONBLOCK);
  socket.destroy();
  try {
    for (;;) {
      const chunk = Buffer.alloc(CHUNK);
      let size = 0;
      try {
        size = readSync(fd, chunk, 0, CHUNK, null);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error;
      }
      if (size === 0) return;
      yield chunk.subarray(0, size);
    }
  } finally {
    closeSync(fd);
  }
}
