/** Reads and writes small parts of images as a whole. */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeAtomicallyLater } from "../../node/index.ts";
import { readOwnFile } from "../own/index.ts";
import { ImageError } from "./errors.ts";
import type { Places } from "./places.ts";

/** Maximum size of a manifest or configuration, in bytes. */
export const LARGEST_JSON = 4 << 20;

export function digestOf(bytes: Buffer): string {
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

/** @param what name of the part in the error. @throws ImageError image-invalid: the file does not exist, is too large, or is no regular file */
export function readSmall(path: string, what: string): Buffer {
  try {
    return readOwnFile(path, LARGEST_JSON);
  } catch (error) {
    throw new ImageError("image-invalid", `${what}: ${(error as Error).message}`, { cause: error });
  }
}

/** @throws ImageError image-invalid: the file does not exist, is too large, is no regular file, or does not match its digest */
export function readBlob(path: string, digest: string): Buffer {
  const bytes = readSmall(path, digest);
  if (digestOf(bytes) !== digest) throw new ImageError("image-invalid", `${digest}: its content has another digest`);
  return bytes;
}

/** The blob gets its name only when it is complete, so that no crash leaves a partial one. Returns its digest. */
export async function putBlob(places: Places, bytes: Buffer): Promise<string> {
  const digest = digestOf(bytes);
  const making = join(places.staging, `blob-${process.hrtime.bigint()}`);
  await writeAtomicallyLater(places.blob(digest), bytes, { durability: "file", making });
  return digest;
}
