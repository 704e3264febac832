import { closeSync, openSync, readSync, realpathSync } from "node:fs";

const STDIN = 0;
const PIECE = 64 * 1024;

/** At most `most` bytes, and one more if there are more. @throws the errors of openSync and readSync */
export function readFile(path: string, most: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    return readAll(file, most);
  } finally {
    closeSync(file);
  }
}

/** Absolute, without links. undefined: it has no path, such as a pipe. */
export function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The standard input, likewise. */
export function readInput(most: number): Uint8Array {
  return readAll(STDIN, most);
}

function readAll(file: number, most: number): Uint8Array {
  const pieces: Uint8Array[] = [];
  for (let left = most + 1; left > 0; ) {
    const piece = new Uint8Array(Math.min(PIECE, left));
    const length = readSync(file, piece);
    if (length === 0) break;
    pieces.push(piece.subarray(0, length));
    left -= length;
  }
  return Buffer.concat(pieces);
}
