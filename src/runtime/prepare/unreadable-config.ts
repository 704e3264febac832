/** Why a configuration could not be read, in words that say what the file is. Loaded only then. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";

/** S_IFMT >> 12 of what cannot be a configuration (inode(7)). */
const KINDS: Readonly<Record<number, string>> = {
  1: "a FIFO",
  2: "a character device",
  4: "a directory",
  6: "a block device",
  12: "a socket",
};
const MARK_BYTES = 2;

/** @returns RuntError config-read */
export function unreadableConfig(path: string, cause: unknown): RuntError {
  const kind = KINDS[(host.stat(path)?.mode ?? 0) >> 12];
  if (kind !== undefined) return new RuntError("config-read", `open ${path}: it is ${kind}, not a file`, { cause });
  if (!host.isErrno(cause, "EILSEQ")) return new RuntError("config-read", `open ${path}: ${host.reason(cause)}`, { cause });
  return new RuntError("config-read", `open ${path}: ${encodingText(path)}`, { hint: "save the file as UTF-8", cause });
}

/** By its byte order mark, which editors write. */
export function encodingText(path: string): string {
  const fd = host.open(path, host.O.RDONLY | host.O.NONBLOCK);
  try {
    const mark = new Uint8Array(host.pread(fd, 0, MARK_BYTES));
    const isUtf16 = (mark[0] === 0xff && mark[1] === 0xfe) || (mark[0] === 0xfe && mark[1] === 0xff);
    return isUtf16 ? "it is UTF-16, not UTF-8" : "it has bytes that are not UTF-8";
  } finally {
    host.close(fd);
  }
}
