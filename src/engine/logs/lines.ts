/** Reads complete lines of a file that may still grow, forwards or backwards. */
import { fstatSync, readSync } from "node:fs";

const CHUNK = 65_536;
const NEWLINE = 0x0a;

/** Reads forwards from an offset. An incomplete last line is left for the next call. */
export class LineReader {
  readonly #fd: number;
  #offset: number;
  #rest = Buffer.alloc(0);

  constructor(fd: number, offset = 0) {
    this.#fd = fd;
    this.#offset = offset;
  }

  /** Offset of the next line. */
  get offset(): number {
    return this.#offset - this.#rest.length;
  }

  /** The next lines, without newlines; empty if there are none at the moment. */
  next(): Buffer[] {
    this.#settle();
    const chunk = Buffer.allocUnsafe(CHUNK);
    for (;;) {
      const size = readSync(this.#fd, chunk, 0, CHUNK, this.#offset);
      if (size === 0) return [];
      this.#offset += size;
      const bytes = Buffer.concat([this.#rest, chunk.subarray(0, size)]);
      const end = bytes.lastIndexOf(NEWLINE);
      this.#rest = bytes.subarray(end + 1);
      if (end !== -1) return split(bytes.subarray(0, end));
    }
  }

  /** The pump truncates the file if a record did not fit on a full disk; reading continues at the new end. */
  #settle(): void {
    const { size } = fstatSync(this.#fd);
    if (size >= this.#offset) return;
    this.#offset = size;
    this.#rest = Buffer.alloc(0);
  }
}

function split(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  let from = 0;
  for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
    lines.push(bytes.subarray(from, at));
    from = at + 1;
  }
  lines.push(bytes.subarray(from));
  return lines;
}

/** Yields lines from the last complete one to the first, each with its offset. */
export function* linesBackward(fd: number): Generator<{ readonly start: number; readonly line: Buffer }> {
  let { size: position } = fstatSync(fd);
  // The bytes from `position` on that belong to a line whose beginning was not read yet; undefined: the end of the last complete line was not found
  // yet.
  let tail: Buffer | undefined;
  while (position > 0) {
    const from = Math.max(0, position - CHUNK);
    const chunk = Buffer.allocUnsafe(position - from);
    if (readSync(fd, chunk, 0, chunk.length, from) !== chunk.length) return;
    let end = chunk.length;
    for (let at = chunk.lastIndexOf(NEWLINE); at !== -1; at = at === 0 ? -1 : chunk.lastIndexOf(NEWLINE, at - 1)) {
      if (tail !== undefined) yield { start: from + at + 1, line: Buffer.concat([chunk.subarray(at + 1, end), tail]) };
      tail = Buffer.alloc(0);
      end = at;
    }
    if (tail !== undefined) tail = Buffer.concat([chunk.subarray(0, end), tail]);
    position = from;
  }
  if (tail !== undefined) yield { start: 0, line: tail };
}
