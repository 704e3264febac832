/** The caller's ends of an executor's FIFOs: its standard streams, and the size of its terminal. */
import { closeSync, constants, existsSync } from "node:fs";
import { Readable, type Writable } from "node:stream";
import type { Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import { readerOf, readNow, writerOf } from "./fifo.ts";
import type { TerminalSize } from "./launch/command.ts";
import { checkSize, writeSize } from "./launch/size.ts";
import { pipePath, type StreamName, sizePath } from "./launch/stdio.ts";
import { openOwnFifo, readOwnFile } from "./own/file.ts";
import { readIfThere } from "./process/cgroups.ts";

function stdinOf(fd: number): Writable {
  const stdin = writerOf(fd);
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
    this.stdin = stdinOf(fd);
  }

  /** A further writer to a stdin that stays open. @throws ExecutorError wrong-state: it has none, or has ended */
  writeStdin(): Writable {
    const path = pipePath(this.#directory.path, "stdin");
    try {
      return stdinOf(openOwnFifo(path, constants.O_WRONLY | constants.O_NONBLOCK));
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
  const source = readerOf(fd);
  let isHeld = false;
  const output = new Readable({
    read() {
      // Whoever reads waits for the end.
      if (!isHeld) life.hold(true);
      isHeld = true;
      source.resume();
    },
    destroy(error, done) {
      if (isHeld) life.hold(false);
      source.destroy();
      done(error);
    },
  });
  let isOpen = true;
  source.on("data", (chunk: Buffer) => {
    if (!output.push(chunk)) source.pause();
  });
  source.on("error", (error) => output.destroy(error));
  source.on("close", () => {
    isOpen = false;
  });
  const finish = () => {
    if (output.destroyed) return;
    try {
      // Whether the kernel reports the end of a FIFO depends on who had it open when: what is in it is taken by hand.
      if (isOpen) for (const chunk of drain(fifo, source)) output.push(chunk);
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

/** Bytes that a pipe can have. Root may have given one more. Source: fcntl(2), F_SETPIPE_SZ. */
function mostInPipe(): number {
  const most = Number(readIfThere("/proc/sys/fs/pipe-max-size"));
  return Number.isSafeInteger(most) && most > 0 ? most : 1 << 20;
}

/**
 * What has come into `source` and was not passed on; its "data" events pass it on. Then what is in the FIFO: no more than a pipe can have, because another
 * process may hold its other end and fill it without a pause.
 */
function* drain(fifo: string, source: Readable): Generator<Buffer> {
  while (source.read() !== null);
  // The reading end that is open keeps what is in the FIFO; this one shares it.
  const fd = openOwnFifo(fifo, O_RDONLY | O_NONBLOCK);
  source.destroy();
  try {
    let left = mostInPipe();
    for (let chunk = readNow(fd); chunk !== undefined; chunk = readNow(fd)) {
      yield chunk;
      left -= chunk.length;
      if (left <= 0) return;
    }
  } finally {
    closeSync(fd);
  }
}
