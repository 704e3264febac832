import { exit as end, isatty, poll, windowSize, write, writeSome } from "runt:client";
import type { Output } from "./contract.ts";
import { beforeWaits, POLL, until } from "./loop.ts";

/**
 * A pipe that poll(2) reports as writable takes this many bytes without blocking (PIPE_BUF). O_NONBLOCK must not be set, because other processes
 * share the open file.
 */
const AT_ONCE = 4096;
/** Number of bytes that are written together. */
const ENOUGH = 32 * 1024;
const STDERR = 2;
/** Exit status of a failure, as in errors.ts. */
const FAILED = 1;

/** Bytes to be written. All are for one descriptor, so that both streams keep their order. */
let waiting: Uint8Array[] = [];
let size = 0;
let target = 0;
let flushing: Promise<void> | undefined;

class Stream implements Output {
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  get isTTY(): boolean {
    return isatty(this.#fd);
  }

  get columns(): number | undefined {
    return windowSize(this.#fd)?.columns;
  }

  write(text: string): void {
    flushNow();
    unlessBroken(() => write(this.#fd, text));
  }

  /** The bytes are written when this program waits for something, at the latest. */
  async send(bytes: Uint8Array): Promise<void> {
    while (size > 0 && (target !== this.#fd || size >= ENOUGH)) await flush();
    target = this.#fd;
    waiting.push(bytes);
    size += bytes.length;
  }
}

function flush(): Promise<void> {
  flushing ??= drain().finally(() => {
    flushing = undefined;
  });
  return flushing;
}

async function drain(): Promise<void> {
  while (size > 0) {
    if (poll([target], [POLL.out], 0)[0] === 0) await until(target, POLL.out);
    const bytes = join();
    dropWritten(unlessBroken(() => writeSome(target, bytes.buffer as ArrayBuffer, bytes.byteOffset, Math.min(AT_ONCE, bytes.length))));
  }
}

/** Writes everything, and blocks while the reader is slow. */
function flushNow(): void {
  while (size > 0) {
    const bytes = join();
    unlessBroken(() => write(target, bytes.slice().buffer as ArrayBuffer));
    dropWritten(bytes.length);
  }
}

/** Joins all waiting bytes. */
function join(): Uint8Array {
  if (waiting.length > 1) waiting = [Buffer.concat(waiting)];
  return waiting[0] ?? Buffer.concat([]);
}

function dropWritten(length: number): void {
  waiting = [join().subarray(length)];
  size -= length;
  if (size === 0) waiting = [];
}

function unlessBroken<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code !== "EPIPE") printToStderr(`runtctl: the output cannot be written: ${code}\n`);
    return endProgram(FAILED);
  }
}

const ends: (() => void)[] = [];

/** Registers an action for the end of the program. */
export function atExit(action: () => void): void {
  ends.push(action);
}

function endProgram(status: number): never {
  for (const action of ends.splice(0)) action();
  return end(status);
}

function printToStderr(text: string): void {
  try {
    write(STDERR, text);
  } catch {
    // The error cannot be reported.
  }
}

beforeWaits(() => {
  if (size > 0) void flush();
});

export const stdout = new Stream(1);
export const stderr = new Stream(STDERR);

export function print(line: string): void {
  stdout.write(`${line}\n`);
}

export function printError(line: string): void {
  stderr.write(`${line}\n`);
}

/** Ends the program after everything was written. */
export function exit(status: number): never {
  flushNow();
  return endProgram(status);
}
