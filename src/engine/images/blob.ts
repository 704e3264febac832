/** Small parts of images, read whole. */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { ImageError } from "./errors.ts";

/** Largest manifest or configuration that is read, in bytes. */
export const LARGEST_JSON = 4 << 20;

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** @throws ImageError image-invalid: it is not there, too large, or not what its name says */
export function readBlob(path: string, digest: string): Buffer {
  let bytes: Buffer;
  try {
    if (statSync(path).size > LARGEST_JSON) throw new Error(`it is larger than ${LARGEST_JSON} bytes`);
    bytes = readFileSync(path);
  } catch (error) {
    throw new ImageError("image-invalid", `${digest}: ${(error as Error).message}`, { cause: error });
  }
  if (digestOf(bytes) !== digest) throw new ImageError("image-invalid", `${digest}: its content has another digest`);
  return bytes;
}
