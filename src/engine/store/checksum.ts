/** Checksums of rows, over key and content. They detect changed bits on the disk, which SQLite's integrity check does not. */
import { createHash } from "node:crypto";

/** Hexadecimal SHA-256. Each part is preceded by its length, so that moving text from one part to the next changes the sum. */
export function checksumOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex");
}
