/** Scans a layer before it is unpacked: how much disk space it needs, and whether it has forbidden entries. */
import { createReadStream } from "node:fs";
import { Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { openOwnFile } from "../own/index.ts";
import { ImageError } from "./errors.ts";
import type { Descriptor } from "./manifest.ts";
import { type TarEntry, TarError, TarReader } from "./tar.ts";

/** Limits of a whole image when it is unpacked. */
export interface ImageLimits {
  readonly maxBytes: number;
  readonly maxFiles: number;
}

export const DEFAULT_LIMITS: ImageLimits = { maxBytes: 32 * 2 ** 30, maxFiles: 1_000_000 };

/** Sums up what the layers of one image need. */
export class Budget {
  readonly #limits: ImageLimits;
  bytes = 0;
  files = 0;

  constructor(limits: ImageLimits) {
    this.#limits = limits;
  }

  /** @throws ImageError image-refused */
  add(bytes: number, files: number): void {
    this.bytes += bytes;
    this.files += files;
    if (this.bytes > this.#limits.maxBytes)
      throw refused(`unpacked it is larger than ${this.#limits.maxBytes} bytes, which this host allows`);
    if (this.files > this.#limits.maxFiles) throw refused(`it has more than ${this.#limits.maxFiles} files, which this host allows`);
  }
}

/** @throws ImageError image-refused, image-unsupported, image-invalid; the reason of `signal` */
export async function scanLayer(path: string, { mediaType, digest }: Descriptor, budget: Budget, signal: AbortSignal): Promise<void> {
  const directories = new Directories();
  const reader = new TarReader((entry) => {
    assertAllowed(entry, digest);
    budget.add(0, 1 + directories.impliedBy(entry.name));
  });
  const counted = new Writable({
    write(chunk: Buffer, _, done) {
      try {
        budget.add(chunk.length, 0);
        reader.write(chunk);
        done();
      } catch (error) {
        done(error as Error);
      }
    },
  });
  try {
    // Only a regular file is read: a FIFO could block for ever, and a device may have no end.
    const source = createReadStream("", { fd: openOwnFile(path) });
    if (mediaType.endsWith("+gzip")) await pipeline(source, createGunzip(), counted, { signal });
    else await pipeline(source, counted, { signal });
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ImageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    if (error instanceof TarError || code?.startsWith("Z_"))
      throw new ImageError("image-invalid", `layer ${digest}: ${message}`, { cause: error });
    throw error;
  }
}

/** Attributes of the overlay file system would give a file a meaning that is not visible in the archive. */
const OVERLAY_ATTRIBUTE = /^(?:SCHILY|LIBARCHIVE)\.xattr\.(?:trusted|user)\.overlay\./;

/** PATH_MAX and NAME_MAX of the kernel, in bytes. */
const LONGEST_PATH = 4096;
const LONGEST_NAME = 255;
/**
 * Whiteouts of "", "." and "..". They would remove the directory of the entry or its parent, which may be the root file system itself, instead of a
 * file in it.
 */
const ODD_WHITEOUTS = [".wh.", ".wh..", ".wh..."];

/** A byte that is no UTF-8, as in names of other encodings, is one character here, and would count as three. */
function bytesOf(name: string): number {
  return Buffer.byteLength(name.replaceAll("\ufffd", "?"));
}

function assertAllowed({ name, link, type, pax }: TarEntry, digest: string): void {
  const shown = JSON.stringify(name.slice(0, 200));
  if (bytesOf(name) > LONGEST_PATH) throw refused(`layer ${digest}: ${shown}... is longer than a path can be`);
  const parts = name.split("/");
  const long = parts.find((part) => bytesOf(part) > LONGEST_NAME);
  if (long !== undefined)
    throw refused(
      `layer ${digest}: ${JSON.stringify(long.slice(0, 200))}... is longer than ${LONGEST_NAME} bytes, which no file name can be`,
    );
  if (parts.some((part) => ODD_WHITEOUTS.includes(part))) throw refused(`layer ${digest}: ${shown} removes a directory that it is in`);
  if (parts.includes("..")) throw refused(`layer ${digest}: ${shown} leads out of the root file system`);
  if (type === "1" && hasParentPart(link))
    throw refused(`layer ${digest}: ${shown} is a link to ${JSON.stringify(link.slice(0, 200))}, out of the root file system`);
  for (const key of pax.keys()) {
    if (OVERLAY_ATTRIBUTE.test(key)) throw refused(`layer ${digest}: ${shown} has an attribute of the overlay file system`);
    // The declared size of a sparse file is not that of its content: a few bytes could fill the disk.
    if (key.startsWith("GNU.sparse.")) throw sparse(digest, shown);
  }
  if (type === "S") throw sparse(digest, shown);
}

function hasParentPart(path: string): boolean {
  return path.split("/").includes("..");
}

function refused(message: string): ImageError {
  return new ImageError("image-refused", message);
}

function sparse(digest: string, shown: string): ImageError {
  return new ImageError("image-unsupported", `layer ${digest}: ${shown} is a sparse file`);
}

/** Most characters of the names of the directories in one layer. The largest real images have some hundred thousand directories. */
const MOST_CHARACTERS = 32 << 20;

/** Counts the directories that an archive implies: a/b/c is unpacked with a and a/b, even if no entry names these. */
export class Directories {
  /** Numbers of directories, by the number of the parent directory and the name: the name is kept once, however long the path to it is. */
  readonly #known = new Map<string, number>();
  #characters = 0;

  /** Number of directories that this entry adds to those of earlier entries. @throws ImageError image-refused: they would take too much memory */
  impliedBy(name: string): number {
    const before = this.#known.size;
    let parent = 0;
    const parts = name.split("/").filter((part) => part !== "" && part !== ".");
    for (const part of parts.slice(0, -1)) {
      const key = `${parent}/${part}`;
      parent = this.#known.get(key) ?? this.#add(key);
    }
    return this.#known.size - before;
  }

  #add(key: string): number {
    this.#characters += key.length;
    if (this.#characters > MOST_CHARACTERS)
      throw refused(`the names of its directories have more than ${MOST_CHARACTERS} characters together`);
    const number = this.#known.size + 1;
    this.#known.set(key, number);
    return number;
  }
}
