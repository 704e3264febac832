/** Tests which files a cleanup reads, and how long it locks the store. */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { observed } from "../../../test/support/turns.ts";
import { digestOf } from "./blob.ts";
import { Cleaner } from "./cleaner.ts";
import { type CollectOptions, collect } from "./collect.ts";
import { Layout } from "./layout.ts";
import { type ImageId, loadImage } from "./load.ts";
import { CONFIG_TYPE, LAYER_TYPE } from "./manifest.ts";
import { Places } from "./places.ts";
import { Trash } from "./trash.ts";
import { Lock } from "./waiting.ts";

/** Counts how often a blob is looked for. */
class CountedPlaces extends Places {
  count = 0;

  override blob(digest: string): string {
    this.count++;
    return super.blob(digest);
  }
}

const FILES = 200;
let directory: string;
let places: CountedPlaces;
let layout: Layout;
let lock: Lock;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-cleaner-"));
  places = new CountedPlaces(directory);
  places.make();
  layout = new Layout(places.layout);
  lock = new Lock();
});
afterEach(() => rmSync(directory, { recursive: true }));

function putBlob(content: string): { readonly digest: string; readonly size: number } {
  const bytes = Buffer.from(content);
  writeFileSync(places.blob(digestOf(bytes)), bytes);
  return { digest: digestOf(bytes), size: bytes.length };
}

/** An image of the store with these layers, packed and unpacked. */
function putImage(name: string, layers: readonly string[], pulledMs = 0): ImageId & { readonly layers: readonly string[] } {
  const packed = layers.map((layer) => ({ mediaType: LAYER_TYPE, ...putBlob(layer) }));
  const rootfs = { type: "layers", diff_ids: packed.map(({ digest }) => digest) };
  const config = { mediaType: CONFIG_TYPE, ...putBlob(JSON.stringify({ architecture: "amd64", os: "linux", author: name, rootfs })) };
  const { digest, size } = putBlob(JSON.stringify({ schemaVersion: 2, config, layers: packed }));
  layout.put({ reference: name, digest, manifest: digest, manifestSize: size, config: null, pulledMs });
  const id = { manifest: digest, config: null };
  const names = loadImage(places, id).layers;
  for (const one of names) mkdirSync(join(places.layers, one), { recursive: true });
  return { ...id, layers: names };
}

const cleaner = (used: readonly ImageId[] = [], onDamaged = (_: string) => {}) =>
  new Cleaner({ places, layout, lock, onDamaged, used: () => used, remembered: () => [], lastUsedMs: ({ pulledMs }) => pulledMs });
const blobCount = () => readdirSync(join(places.blobs, "sha256")).length;

test("a cleanup has the store alone only until what goes has lost its name: containers start while its files are removed", async () => {
  const stray = join(places.layers, "stray");
  mkdirSync(stray);
  for (let index = 0; index < FILES; index++) writeFileSync(join(stray, String(index)), "");
  let isOver = false;
  const collecting = cleaner()
    .collect({ unusedMs: 0 }, false)
    .finally(() => {
      isOver = true;
    });
  await new Promise(setImmediate);
  const found = await lock.read(async () => ({ isOver, names: readdirSync(places.layers), trash: readdirSync(places.staging) }));
  expect(found).toEqual({ isOver: false, names: [], trash: [expect.stringMatching(/^trash-/)] });
  await collecting;
  expect(readdirSync(places.staging)).toEqual([]);
});

test("each image is read once for all that are removed, in a turn of its own, and what others need stays", async () => {
  const images = Array.from({ length: 50 }, (_, index) => putImage(`image-${index}`, ["base", `own-${index}`]));
  const used = Array.from({ length: 1000 }, () => ({ manifest: images[0]!.manifest, config: null }));
  places.count = 0;
  const { result, turns } = await observed(() => cleaner(used).collect({ unusedMs: 0 }, false));
  expect(result.removed).toHaveLength(49);
  // A manifest and a configuration of each of them, and again for the one that containers use.
  expect(places.count).toBe(2 * (50 + 1));
  expect(turns).toBeGreaterThan(50);
  expect(blobCount()).toBe(4);
  expect(readdirSync(places.layers).sort()).toEqual([...images[0]!.layers].sort());
  expect(loadImage(places, images[0]!).manifest.layers).toHaveLength(2);
});

test("an image with two names keeps its parts until it has lost both", async () => {
  const { manifest, layers } = putImage("one", ["base"]);
  layout.put({ ...layout.find("one")!, reference: "two", pulledMs: 1 });
  expect((await cleaner().collect({ unusedMs: 0, most: 1 }, false)).removed).toEqual(["one"]);
  expect([existsSync(places.blob(manifest)), readdirSync(places.layers)]).toEqual([true, layers]);
  expect((await cleaner().collect({ unusedMs: 0 }, false)).removed).toEqual(["two"]);
  expect([blobCount(), readdirSync(places.layers)]).toEqual([0, []]);
});

test("on a full disk no second image goes before it is known what the first one has freed", async () => {
  const now = Date.now();
  for (const [index, name] of ["a", "b", "c"].entries()) putImage(name, [name], now + index);
  const trash = new Trash(places);
  const options: CollectOptions = {
    ...{ places, layout, trash, used: [], remembered: [], onDamaged: () => {}, lastUsedMs: ({ pulledMs }) => pulledMs },
    // Each of them has a layer, a configuration and a manifest.
    fullness: () => (blobCount() + readdirSync(places.staging).length > 6 ? 95 : 80),
  };
  const policy = { unusedMs: 3_600_000, fullPercent: 90 };
  const first = await collect(policy, options);
  expect(first).toMatchObject({ removed: ["a"], isDone: false });
  await trash.empty();
  expect(await collect(policy, options, first)).toEqual({ ...first, isDone: true });
  expect(layout.entries.map(({ reference }) => reference)).toEqual(["b", "c"]);
});

test("what cannot be removed is told, and the rest is removed", async () => {
  const trash = new Trash(places);
  for (const name of ["one", "two"]) {
    mkdirSync(join(places.layers, name));
    trash.take(join(places.layers, name));
  }
  trash.take(join(places.layers, "absent"));
  const [first = "", second = ""] = readdirSync(places.staging);
  rmSync(join(places.staging, first), { recursive: true });
  await expect(Promise.all([trash.empty(), trash.empty()])).rejects.toThrow("ENOENT");
  expect([trash.isEmpty, existsSync(join(places.staging, second))]).toEqual([true, false]);
});
