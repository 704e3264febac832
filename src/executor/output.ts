/** The caller's end of an output FIFO: it may be opened, left and opened again, also by another process. */
import { closeSync, constants, existsSync, readSync } from "node:fs";
import { Socket } from "node:net";
import { Readable } from "node:stream";
import { openOwnFifo, readOwnFile } from "./own/file.ts";

const { O_NONBLOCK, O_RDONLY } = constants;
const CHUNK = 65_536;

export interface OutputSource {
  /** The FIFO. */
  readonly fifo: string;
  /** What the monitor has saved of it while there was no reader. */
  readonly saved: string;
  readonly life: Life;
}

export interface Life {
  /** Settles when nothing of the container is left. */
  readonly ended: Promise<unknown>;
  /** Keep this process alive for that, or not any more. */
  hold(on: boolean): void;
}

/** Unread output, and what the container prints from now on. Ends with the container. */
export function readOutput({ fifo, saved, life }: OutputSource): Readable {
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
