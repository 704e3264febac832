import { close, open, poll, readdir, readSome, realpath, stat, strerror, tryMkdir, write } from "runt:client";
import { POLL } from "./loop.ts";

const STDIN = 0;
const PIECE = 64 * 1024;
const O_RDONLY = 0;
/** O_WRONLY, O_CREAT and O_EXCL. */
const NEW = 0o301;
const FILE_MODE = 0o666;

/** Texts of errors that differ from those of the C library. */
const TEXTS: Readonly<Record<string, string>> = {
  EISDIR: "illegal operation on a directory",
  ELOOP: "too many symbolic links encountered",
};

/** Reads at most `most` bytes, and one more if the file is longer. @throws Error with a code */
export function readFile(path: string, most: number): Uint8Array {
  return withErrorText(() => {
    const file = open(path, O_RDONLY);
    try {
      return readAll(file, most);
    } finally {
      close(file);
    }
  });
}

/** The absolute path without symbolic links. undefined: the file has no path, for example because it is a pipe. */
export function realPath(path: string): string | undefined {
  try {
    return realpath(path);
  } catch {
    return undefined;
  }
}

/** Whether it is a directory, or a link to one. */
export function isDirectory(path: string): boolean {
  return exists(`${path}/.`);
}

const S_IFMT = 0o170_000;
const S_IFREG = 0o100_000;

/** Whether it is a regular file, or a link to one, which is read without a wait. */
export function isFile(path: string): boolean {
  try {
    return ((stat(path)?.mode ?? 0) & S_IFMT) === S_IFREG;
  } catch {
    return false;
  }
}

/** Names in a directory, sorted. @throws Error with a code */
export function namesIn(path: string): string[] {
  return withErrorText(() => readdir(path)).sort();
}

export function exists(path: string): boolean {
  try {
    return stat(path) !== undefined;
  } catch {
    return false;
  }
}

/** The path as it is for a program with another working directory. */
export function absolutePath(path: string): string {
  return path.startsWith("/") ? path : `${workingDirectory()}/${path}`;
}

/** A file that is not there yet. @throws Error with a code */
export function newFile(path: string): { send(bytes: Uint8Array): Promise<void> } {
  const file = withErrorText(() => open(path, NEW, FILE_MODE));
  return {
    async send(bytes) {
      withErrorText(() => write(file, bytes.slice().buffer as ArrayBuffer));
    },
  };
}

const DIRECTORY_MODE = 0o777;

/** Makes the directory and missing ones above it. @param path absolute. @throws Error with a code */
export function makeDirectory(path: string): void {
  withErrorText(() => {
    const isMade = tryMkdir(path, DIRECTORY_MODE);
    if (isMade === undefined && path !== "/") {
      makeDirectory(path.replace(/\/+[^/]*\/*$/, "") || "/");
      tryMkdir(path, DIRECTORY_MODE);
    }
  });
}

/** The absolute path of the working directory, without symbolic links. */
export function workingDirectory(): string {
  return realpath(".");
}

/** Maximum size in bytes of a file of the kernel. */
const LARGEST_FACT = 1024 * 1024;

function fact(path: string): string {
  return Buffer.from(readFile(path, LARGEST_FACT)).toString();
}

export function hostname(): string {
  return fact("/proc/sys/kernel/hostname").trim();
}

/** Number of processors that this program may use. */
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

/** Reads standard input, with the same limit. */
export function readInput(most: number): Uint8Array {
  return withErrorText(() => readAll(STDIN, most));
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

function withErrorText<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { errno, code, syscall, path } = error as { errno: number; code: string; syscall: string; path?: string };
    const text = `${code}: ${TEXTS[code] ?? strerror(errno)}, ${syscall}${path === undefined ? "" : ` '${path}'`}`;
    throw Object.assign(new Error(text), { code });
  }
}
