/**
 * Removes unused images from the store: first their names, then the blobs and layers that no name and no container needs. The caller holds the
 * store's lock.
 */
import { lstatSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import type { Entry, Layout } from "./layout.ts";
import type { ImageId, Loaded } from "./load.ts";
import type { Places } from "./places.ts";
import { removeLayer } from "./places.ts";
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

export interface CollectOptions {
  readonly places: Places;
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

/** The least recently used image is removed first. */
export async function collect({ unusedMs, most = Infinity, kept = [], fullPercent = 100 }: CollectPolicy, options: CollectOptions) {
  const { layout, used, remembered, lastUsedMs, fullness } = options;
  const isUsed = new Set([...used, ...remembered].map(({ manifest }) => manifest));
  const unused = layout.entries
    .filter(({ manifest, reference }) => !isUsed.has(manifest) && !kept.includes(reference))
    .map((entry) => ({ entry, at: lastUsedMs(entry) }))
    .sort((a, b) => a.at - b.at);
  const removed: string[] = [];
  let { freedBytes, linkedBytes } = await sweepParts(options);
  let isSpaceHeld = linkedBytes > freedBytes;
  for (const { entry, at } of unused) {
    if (removed.length >= most) break;
    // A time to come counts as now: the clock is behind, or was ahead. Which of the two it is cannot be known, so nothing is written.
    const isRecent = Math.max(0, Date.now() - at) < unusedMs;
    // What a push or an archive still reads gives its space back only at its end. More images would go in vain.
    if (isRecent && (isSpaceHeld || fullness() <= fullPercent)) break;
    layout.remove(entry.reference);
    removed.push(entry.reference);
    const swept = await sweepParts(options);
    freedBytes += swept.freedBytes;
    isSpaceHeld ||= swept.linkedBytes > swept.freedBytes;
  }
  return { removed, freedBytes } satisfies Collected;
}

/** Of the blobs that were removed. */
interface Swept {
  readonly freedBytes: number;
  /** Of those that have further names: they take their space until a push or an archive has ended. */
  readonly linkedBytes: number;
}

/** Removes the blobs and unpacked layers that no image needs. */
async function sweepParts(options: CollectOptions): Promise<Swept> {
  const { places } = options;
  const swept = await sweepBlobs(options);
  const needed = partsOf(options);
  if (needed === undefined) return swept;
  for (const name of await readdir(places.layers)) {
    if (!needed.layers.has(name)) await removeLayer(places, name);
  }
  return swept;
}

/** Removes the blobs that no image needs: those of removed images, and of images that were refused. */
export async function sweepBlobs(options: CollectOptions): Promise<Swept> {
  const { places } = options;
  const needed = partsOf(options);
  // The manifest of an image that a container uses cannot be read. Any blob may belong to it, so none is removed.
  let [freedBytes, linkedBytes] = [0, 0];
  if (needed === undefined) return { freedBytes, linkedBytes };
  const blobs = join(places.blobs, "sha256");
  for (const name of await readdir(blobs)) {
    if (needed.blobs.has(`sha256:${name}`)) continue;
    const found = lstatSync(join(blobs, name));
    // A directory is not made by this store.
    if (found.isDirectory()) continue;
    removeOwnFile(join(blobs, name));
    if (found.nlink > 1) linkedBytes += found.size;
    else freedBytes += found.size;
  }
  return { freedBytes, linkedBytes };
}

function partsOf({ places, layout, used, remembered, onDamaged }: CollectOptions) {
  const blobs = new Set<string>();
  const layers = new Set<string>();
  const add = ({ manifest, config }: ImageId, loaded: Loaded) => {
    for (const digest of [manifest, config, loaded.manifest.config.digest, ...loaded.manifest.layers.map((one) => one.digest)])
      if (digest !== null) blobs.add(digest);
    for (const name of [...loaded.layers, flatName(loaded.layers)]) layers.add(name);
  };
  for (const id of used) {
    const loaded = loadedOr(places, id);
    if (loaded === undefined) {
      onDamaged(id.manifest);
      return undefined;
    }
    add(id, loaded);
  }
  // A damaged image keeps no parts. The next pull fetches them again.
  for (const id of [...layout.entries, ...remembered]) {
    const loaded = loadedOr(places, id);
    if (loaded !== undefined) add(id, loaded);
  }
  return { blobs, layers };
}
