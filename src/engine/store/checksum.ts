/** Checksums of rows, over key and content. SQLite has none: a flipped bit on the disk passes its integrity check. */
import { createHash } from "node:crypto";

/** Hexadecimal SHA-256. A length stands before each part, so that moving text from one part to the next gives another sum. */
export function checksumOf(...parts: readonly string[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}:`).update(part);
  return hash.digest("hex");
}
