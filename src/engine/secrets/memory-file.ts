/** Passes a secret to a program that expects a file. The secret is an unnamed file in memory, which the program opens as /proc/self/fd/N. */
import { closeSync, constants, fchmodSync, mkdtempSync, openSync, rmdirSync, statfsSync, unlinkSync, writeSync } from "node:fs";
import { join } from "node:path";
import { SecretError } from "./read.ts";

/** Flag of open(2), which Node does not export. */
const O_TMPFILE = 0o20200000;
/** Magic number of tmpfs, statfs(2). */
const TMPFS = 0x01021994;
const RAMFS = 0x858458f6;
const PLACES = ["/dev/shm", "/run"];

/**
 * Calls `action` with the descriptor, and closes it when the promise settles.
 * @throws SecretError: the host has no usable tmpfs; what `action` throws
 */
export async function asMemoryFile<T>(bytes: Uint8Array, action: (descriptor: number) => Promise<T>): Promise<T> {
  const place = PLACES.find(isInMemory);
  if (place === undefined) throw new SecretError(`none of ${PLACES.join(", ")} is in memory (tmpfs)`);
  const descriptor = openNameless(place);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
    return await action(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

function isInMemory(path: string): boolean {
  try {
    return [TMPFS, RAMFS].includes(statfsSync(path).type);
  } catch {
    return false;
  }
}

function openNameless(place: string): number {
  try {
    return openSync(place, O_TMPFILE | constants.O_RDWR, 0o600);
  } catch (error) {
    // ramfs supports no unnamed files.
    if ((error as NodeJS.ErrnoException).code !== "EOPNOTSUPP") throw error;
  }
  const directory = mkdtempSync(join(place, "runt-"));
  const path = join(directory, "secret");
  const descriptor = openSync(path, "wx+", 0o600);
  fchmodSync(descriptor, 0o600);
  unlinkSync(path);
  rmdirSync(directory);
  return descriptor;
}
