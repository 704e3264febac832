/** Reads small files of /proc and /sys. A missing file is no error. */
import * as host from "../../host/index.ts";

const SILENT = ["ENOENT", "ENOTDIR", "EACCES", "EPERM", "EINVAL", "EIO", "EOPNOTSUPP", "ENODEV"] as const;

/** Trimmed; undefined when it is not there or may not be read. */
export function readText(path: string): string | undefined {
  return attempt(() => host.readFile(path, undefined, true).trim());
}

/** 0 when there is none. */
export function readNumber(path: string): number {
  const value = Number(readText(path) ?? 0);
  return Number.isSafeInteger(value) && value >= 0 ? Math.min(value, 0xffff_ffff) : 0;
}

/** Words between blanks. */
export function readWords(path: string): string[] {
  return (readText(path) ?? "").split(/\s+/).filter(Boolean);
}

/** Sorted; empty when it is no directory. */
export function names(path: string): string[] {
  return attempt(() => host.readdir(path).sort()) ?? [];
}

function attempt<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (host.isErrno(error, ...SILENT)) return undefined;
    throw error;
  }
}
