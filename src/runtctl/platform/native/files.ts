import { close, open, poll, readSome, realpath, strerror } from "runt:client";
import { keepInput } from "./hand-over.ts";
import { POLL } from "./loop.ts";

const STDIN = 0;
const PIECE = 64 * 1024;
const O_RDONLY = 0;

/** Where Node has another text than the C library. */
const TEXTS: Readonly<Record<string, string>> = {
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
};

/** At most `most` bytes, and one more if there are more. @throws Error with a code and the text that Node gives it */
export function readFile(path: string, most: number): Uint8Array {
  return asNode(() => {
    const file = open(path, O_RDONLY);
    try {
      return readAll(file, most);
    } finally {
      close(file);
    }
  });
}

/** Absolute, without links. undefined: it has no path, such as a pipe. */
export function realPath(path: string): string | undefined {
  try {
    return realpath(path);
  } catch {
    return undefined;
  }
}

/** The standard input, likewise. */
export function readInput(most: number): Uint8Array {
  const bytes = asNode(() => readAll(STDIN, most));
  keepInput(bytes);
  return bytes;
}

function readAll(file: number, most: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let left = most + 1; left > 0; ) {
    const piece = readSome(file, Math.min(PIECE, left));
    if (piece === undefined) {
      poll([file], [POLL.in], -1);
      continue;
    }
    if (piece.byteLength === 0) break;
    pieces.push(new Uint8Array(piece));
    left -= piece.byteLength;
  }
  return Buffer.concat(pieces);
}

function asNode<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { errno, code, syscall, path } = error as { errno: number; code: string; syscall: string; path?: string };
    const text = `${code}: ${TEXTS[code] ?? strerror(errno)}, ${syscall}${path === undefined ? "" : ` '${path}'`}`;
    throw Object.assign(new Error(text), { code });
  }
}
