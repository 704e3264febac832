import { close, open, poll, readSome, realpath, stat, strerror, tryMkdir } from "runt:client";
import { POLL } from "./loop.ts";

const STDIN = 0;
const PIECE = 64 * 1024;
const O_RDONLY = 0;

/** Where this program says more, or something else, than the C library. */
const TEXTS: Readonly<Record<string, string>> = {
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
};

/** At most `most` bytes, and one more if there are more. @throws Error with a code */
export function readFile(path: string, most: number): Uint8Array {
  return told(() => {
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

export function exists(path: string): boolean {
  try {
    return stat(path) !== undefined;
  } catch {
    return false;
  }
}

const DIRECTORY_MODE = 0o777;

/** With those above it that are missing. @param path absolute. @throws Error with a code */
export function makeDirectory(path: string): void {
  told(() => {
    const isMade = tryMkdir(path, DIRECTORY_MODE);
    if (isMade === undefined && path !== "/") {
      makeDirectory(path.replace(/\/+[^/]*\/*$/, "") || "/");
      tryMkdir(path, DIRECTORY_MODE);
    }
  });
}

/** Absolute, without links. */
export function workingDirectory(): string {
  return realpath(".");
}

/** In bytes: what a file of the kernel has at most. */
const LARGEST_FACT = 1024 * 1024;

function fact(path: string): string {
  return Buffer.from(readFile(path, LARGEST_FACT)).toString();
}

export function hostname(): string {
  return fact("/proc/sys/kernel/hostname").trim();
}

/** Processors that this program may use. */
export function cpuCount(): number {
  const [, list = "0"] = /^Cpus_allowed_list:\s*(\S+)$/m.exec(fact("/proc/self/status")) ?? [];
  return list.split(",").reduce((sum, part) => {
    const [first = 0, last = first] = part.split("-").map(Number);
    return sum + last - first + 1;
  }, 0);
}

export function memoryBytes(): number {
  const [, kibibytes = "0"] = /^MemTotal:\s*(\d+) kB$/m.exec(fact("/proc/meminfo")) ?? [];
  return Number(kibibytes) * 1024;
}

/** The standard input, likewise. */
export function readInput(most: number): Uint8Array {
  return told(() => readAll(STDIN, most));
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

function told<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { errno, code, syscall, path } = error as { errno: number; code: string; syscall: string; path?: string };
    const text = `${code}: ${TEXTS[code] ?? strerror(errno)}, ${syscall}${path === undefined ? "" : ` '${path}'`}`;
    throw Object.assign(new Error(text), { code });
  }
}
