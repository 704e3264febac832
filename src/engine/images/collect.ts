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
  /** Bytes of the blobs that were removed; unpacked layers are not counted. */
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
  /** Takes it for used now: its time is one to come, from when the clock was wrong. */
  readonly reset: (entry: Entry) => void;
  /** Percent of the file system that is in use. */
  readonly fullness: () => number;
}

/** In milliseconds. */
const MOST_AHEAD = 600_000;

/** The least recently used image is removed first. */
export async function collect({ unusedMs, most = Infinity, kept = [], fullPercent = 100 }: CollectPolicy, options: CollectOptions) {
  const { layout, used, remembered, lastUsedMs, reset, fullness } = options;
  const isUsed = new Set([...used, ...remembered].map(({ manifest }) => manifest));
  const ownTime = (entry: Entry) => {
    const [at, now] = [lastUsedMs(entry), Date.now()];
    if (at > now + MOST_AHEAD) reset(entry);
    return Math.min(at, now);
  };
  const unused = layout.entries
    .filter(({ manifest, reference }) => !isUsed.has(manifest) && !kept.includes(reference))
    .map((entry) => ({ entry, at: ownTime(entry) }))
    .sort((a, b) => a.at - b.at);
  const removed: string[] = [];
  let freedBytes = await sweepParts(options);
  for (const { entry, at } of unused) {
    if (removed.length >= most) break;
    if (Date.now() - at < unusedMs && fullness() <= fullPercent) break;
    layout.remove(entry.reference);
    removed.push(entry.reference);
    freedBytes += await sweepParts(options);
  }
  return { removed, freedBytes } satisfies Collected;
}

/** Removes the blobs and unpacked layers that no image needs. Returns the bytes of the blobs. */
async function sweepParts(options: CollectOptions): Promise<number> {
  const { places } = options;
  const bytes = await sweepBlobs(options);
  const needed = partsOf(options);
  if (needed === undefined) return bytes;
  for (const name of await readdir(places.layers)) {
    if (!needed.layers.has(name)) await removeLayer(places, name);
  }
  return bytes;
}

/** Removes the blobs that no image needs: those of removed images, and of images that were refused. Returns their bytes. */
export async function sweepBlobs(options: CollectOptions): Promise<number> {
  const { places } = options;
  const needed = partsOf(options);
  // The manifest of an image that a container uses cannot be read. Any blob may belong to it, so none is removed.
  if (needed === undefined) return 0;
  let bytes = 0;
  const blobs = join(places.blobs, "sha256");
  for (const name of await readdir(blobs)) {
    if (needed.blobs.has(`sha256:${name}`)) continue;
    const found = lstatSync(join(blobs, name));
    // A directory is not made by this store.
    if (found.isDirectory()) continue;
    removeOwnFile(join(blobs, name));
    bytes += found.size;
  }
  return bytes;
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
