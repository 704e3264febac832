import { exit as end, isatty, poll, windowSize, write, writeSome } from "runt:client";
import type { Output } from "./contract.ts";
import { beforeWaits, POLL, until } from "./loop.ts";

/** A pipe that poll(2) calls writable takes so much without blocking (PIPE_BUF). O_NONBLOCK is not ours to set: others share the open file. */
const AT_ONCE = 4096;
/** Bytes that are written together. */
const ENOUGH = 32 * 1024;
const STDERR = 2;
/** As in errors.ts. */
const FAILED = 1;

/** What is to be written, all of it to one descriptor, so that both streams come in order. */
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

  /** It is written at the latest when this program waits for something. */
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
    taken(unlessBroken(() => writeSome(target, bytes.buffer as ArrayBuffer, bytes.byteOffset, Math.min(AT_ONCE, bytes.length))));
  }
}

/** Waits for a slow reader without doing anything else. */
function flushNow(): void {
  while (size > 0) {
    const bytes = join();
    unlessBroken(() => write(target, bytes.slice().buffer as ArrayBuffer));
    taken(bytes.length);
  }
}

/** All that waits, in one piece. */
function join(): Uint8Array {
  if (waiting.length > 1) waiting = [Buffer.concat(waiting)];
  return waiting[0] ?? Buffer.concat([]);
}

function taken(length: number): void {
  waiting = [join().subarray(length)];
  size -= length;
  if (size === 0) waiting = [];
}

function unlessBroken<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    const { code } = error as { readonly code?: string };
    if (code !== "EPIPE") tell(`runtctl: the output cannot be written: ${code}\n`);
    return leave(FAILED);
  }
}

const ends: (() => void)[] = [];

/** Calls this when the program ends by itself. */
export function atExit(action: () => void): void {
  ends.push(action);
}

function leave(status: number): never {
  for (const action of ends.splice(0)) action();
  return end(status);
}

function tell(text: string): void {
  try {
    write(STDERR, text);
  } catch {
    // Nobody can be told.
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

/** Ends the program when all is written. */
export function exit(status: number): never {
  flushNow();
  return leave(status);
}
