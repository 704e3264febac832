/**
 * Makes a directory in which a copy arrives, and removes it when the copy ends. The size is limited, because a source may send more bytes than it
 * has announced.
 */
import { lstatSync, mkdtempSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { removeScratch } from "../volumes/index.ts";
import { ImageError } from "./errors.ts";
import type { Places } from "./places.ts";

export interface StagingOptions {
  readonly places: Places;
  readonly signal: AbortSignal;
  /** Called from time to time with the number of bytes received so far. */
  readonly onProgress: (bytes: number) => void;
  /** Maximum number of bytes. More are an error. */
  readonly maxBytes: number;
}

const LOOK_MS = 250;

/**
 * @param copy creates the directory, copies into it, and takes what it needs out of it; its signal is also aborted when there are too many bytes
 * @throws what `copy` throws
 */
export async function inStaging<T>(options: StagingOptions, copy: (directory: string, signal: AbortSignal) => Promise<T>): Promise<T> {
  const { places, signal } = options;
  const staging = mkdtempSync(join(places.staging, "pull-"));
  const directory = join(staging, "image");
  const bound = new AbortController();
  const end = () => bound.abort(signal.reason);
  signal.addEventListener("abort", end);
  if (signal.aborted) end();
  const watch = setInterval(() => void checkProgress(directory, options, bound), LOOK_MS);
  try {
    return await copy(directory, bound.signal);
  } finally {
    clearInterval(watch);
    signal.removeEventListener("abort", end);
    await removeScratch(staging);
  }
}

/** @param source name of the source in the error. @throws ImageError image-refused */
export function assertSmall(source: string, bytes: number, maxBytes: number): void {
  if (bytes > maxBytes) throw new ImageError("image-refused", `${source}: packed it has ${bytes} bytes, and this host allows ${maxBytes}`);
}

/** Removes unfinished pulls and unpackings of a killed daemon: directories, and blobs that were being written (blob.ts). */
export async function clearStaging({ staging }: Places): Promise<void> {
  for (const name of await readdir(staging)) {
    const path = join(staging, name);
    if (lstatSync(path).isDirectory()) await removeScratch(path);
    else removeOwnFile(path);
  }
}

async function checkProgress(directory: string, { onProgress, maxBytes }: StagingOptions, bound: AbortController): Promise<void> {
  const bytes = await sizeBelow(directory).catch(() => 0);
  onProgress(bytes);
  if (bytes > maxBytes) bound.abort(new ImageError("image-refused", `it is larger than ${maxBytes} bytes, which this host allows`));
}

async function sizeBelow(directory: string): Promise<number> {
  const names = await readdir(directory);
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(directory, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}
