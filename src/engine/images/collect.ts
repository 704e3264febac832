/**
 * Removes unused images from the store: first their names, then the blobs and layers that no name and no container needs. The caller holds the
 * store's lock. What is removed goes to the trash, which the caller empties after that.
 */
import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { slices } from "../own/index.ts";
import type { Entry, Layout } from "./layout.ts";
import type { ImageId, Loaded } from "./load.ts";
import type { Places } from "./places.ts";
import type { Trash } from "./trash.ts";
import { flatName } from "./unpack.ts";
import { loadedOr } from "./whole.ts";

export interface CollectPolicy {
  /** Milliseconds after its last use from which an image is removed. */
  readonly unusedMs: number;
  /** Maximum number of names to remove. Default: all. */
  readonly most?: number | undefined;
  /** References of images that are never removed. */
  readonly kept?: readonly string[] | undefined;
  /** Percent of the file system that may be in use. Above it, images that were used more recently are removed as well. Default: 100. */
  readonly fullPercent?: number | undefined;
}

export interface Collected {
  /** References, in the order of their removal. */
  readonly removed: readonly string[];
  /** Bytes of the blobs that were removed; unpacked layers, and blobs that a push or an archive still reads, are not counted. */
  readonly freedBytes: number;
}

/** The result of all rounds so far. */
export interface Round extends Collected {
  /** Whether blobs were removed that a push or an archive still reads. */
  readonly isSpaceHeld: boolean;
  /** false: the trash is to be emptied before it is known whether more images have to go. */
  readonly isDone: boolean;
}

export interface CollectOptions {
  readonly places: Places;
  readonly trash: Trash;
  readonly layout: Layout;
  /** Images that containers use. */
  readonly used: readonly ImageId[];
  /** Images to which services may return. */
  readonly remembered: readonly ImageId[];
  /** Called when an image that a container uses cannot be read, so that nothing is removed. */
  readonly onDamaged: (manifest: string) => void;
  readonly lastUsedMs: (entry: Entry) => number;
  /** Percent of the file system that is in use. */
  readonly fullness: () => number;
}

/** The least recently used image is removed first. @param before the round before this one */
export async function collect(policy: CollectPolicy, options: CollectOptions, before?: Round): Promise<Round> {
  const { unusedMs, most = Infinity, kept = [], fullPercent = 100 } = policy;
  const { layout, trash, used, remembered, lastUsedMs, fullness } = options;
  const isUsed = new Set([...used, ...remembered].map(({ manifest }) => manifest));
  const unused = layout.entries
    .filter(({ manifest, reference }) => !isUsed.has(manifest) && !kept.includes(reference))
    .map((entry) => ({ entry, at: lastUsedMs(entry) }))
    .sort((a, b) => a.at - b.at);
  const removed = [...(before?.removed ?? [])];
  let { freedBytes = 0, isSpaceHeld = false } = before ?? {};
  const needed = await partsOf(options);
  const sweep = async () => {
    const swept = await sweepParts(needed, options);
    freedBytes += swept.freedBytes;
    isSpaceHeld ||= swept.linkedBytes > swept.freedBytes;
  };
  await sweep();
  let isDone = true;
  for (const { entry, at } of unused) {
    if (removed.length >= most) break;
    // A time to come counts as now: the clock is behind, or was ahead. Which of the two it is cannot be known, so nothing is written.
    const isRecent = Math.max(0, Date.now() - at) < unusedMs;
    if (isRecent) {
      // A push or an archive may still read the removed files. Their space is free only when it ends, so removing more images would not help.
      if (isSpaceHeld || fullPercent >= 100) break;
      isDone = trash.isEmpty;
      if (!isDone || fullness() <= fullPercent) break;
    }
    layout.remove(entry.reference);
    removed.push(entry.reference);
    needed?.drop(entry);
    await sweep();
  }
  return { removed, freedBytes, isSpaceHeld, isDone };
}

/** Of the blobs that were removed. */
interface Swept {
  readonly freedBytes: number;
  /** Of those that have further names: they take their space until a push or an archive has ended. */
  readonly linkedBytes: number;
}

/** Removes the blobs and unpacked layers that no image needs. */
async function sweepParts(needed: Parts | undefined, options: CollectOptions): Promise<Swept> {
  const { places, trash } = options;
  const swept = await sweepBlobs(needed, options);
  if (needed === undefined) return swept;
  const turn = slices();
  for (const name of await readdir(places.layers)) {
    await turn();
    if (!needed.layers.has(name)) trash.take(join(places.layers, name));
  }
  return swept;
}

/** Removes the blobs that no image needs: those of images that were refused, and of pulls that have failed. */
export async function collectBlobs(options: CollectOptions): Promise<void> {
  await sweepBlobs(await partsOf(options), options);
}

async function sweepBlobs(needed: Parts | undefined, { places, trash }: CollectOptions): Promise<Swept> {
  let [freedBytes, linkedBytes] = [0, 0];
  // The manifest of an image that a container uses cannot be read. Any blob may belong to it, so none is removed.
  if (needed === undefined) return { freedBytes, linkedBytes };
  const turn = slices();
  const blobs = join(places.blobs, "sha256");
  for (const name of await readdir(blobs)) {
    await turn();
    if (needed.blobs.has(`sha256:${name}`)) continue;
    const found = lstatSync(join(blobs, name));
    // A directory is not made by this store.
    if (found.isDirectory()) continue;
    trash.take(join(blobs, name));
    if (found.nlink > 1) linkedBytes += found.size;
    else freedBytes += found.size;
  }
  return { freedBytes, linkedBytes };
}

/** The parts of images, each with the number of images that need it. */
class Parts {
  /** By digest. */
  readonly blobs = new Map<string, number>();
  /** By name. */
  readonly layers = new Map<string, number>();
  readonly #loaded = new Map<ImageId, Loaded>();

  add(id: ImageId, loaded: Loaded): void {
    this.#loaded.set(id, loaded);
    this.#change(id, loaded, 1);
  }

  /** The image needs its parts no more. */
  drop(id: ImageId): void {
    const loaded = this.#loaded.get(id);
    if (this.#loaded.delete(id)) this.#change(id, loaded!, -1);
  }

  #change({ manifest, config }: ImageId, { manifest: { config: own, layers }, layers: names }: Loaded, by: number): void {
    const digests = [manifest, own.digest, ...layers.map(({ digest }) => digest), ...(config === null ? [] : [config])];
    for (const digest of new Set(digests)) add(this.blobs, digest, by);
    for (const name of new Set([...names, flatName(names)])) add(this.layers, name, by);
  }
}

function add(counts: Map<string, number>, key: string, by: number): void {
  const count = (counts.get(key) ?? 0) + by;
  if (count === 0) counts.delete(key);
  else counts.set(key, count);
}

/** Reads each image once, one in a turn of the event loop. undefined: an image that a container uses cannot be read. */
async function partsOf({ places, layout, used, remembered, onDamaged }: CollectOptions): Promise<Parts | undefined> {
  const parts = new Parts();
  // A thousand containers may use one image.
  for (const id of new Map(used.map((one) => [JSON.stringify([one.manifest, one.config]), one])).values()) {
    await setImmediate();
    const loaded = loadedOr(places, id);
    if (loaded === undefined) {
      onDamaged(id.manifest);
      return undefined;
    }
    parts.add(id, loaded);
  }
  // A damaged image keeps no parts. The next pull fetches them again.
  for (const id of new Set([...layout.entries, ...remembered])) {
    await setImmediate();
    const loaded = loadedOr(places, id);
    if (loaded !== undefined) parts.add(id, loaded);
  }
  return parts;
}
