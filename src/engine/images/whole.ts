/** Whether all of an image is in the store. */
import { existsSync, lstatSync } from "node:fs";
import { ImageError } from "./errors.ts";
import { hasLayer } from "./layers.ts";
import type { Entry } from "./layout.ts";
import { type ImageId, type Loaded, loadImage } from "./load.ts";
import type { Places } from "./places.ts";

/** umoci looks at digests only. What is unpacked already may be gone as a blob. @throws ImageError image-invalid */
export function assertSizes(places: Places, { manifest }: Loaded): void {
  for (const { digest, size } of manifest.layers) {
    const found = sizeOf(places, digest) ?? size;
    if (found !== size) throw new ImageError("image-invalid", `layer ${digest} has ${found} bytes, and its manifest says ${size}`);
  }
}

/** Whether everything that is needed to unpack the image, or to run it, is in the store. */
export function isThere(places: Places, id: ImageId): boolean {
  const { manifest, config } = id;
  if (![manifest, ...(config === null ? [] : [config])].every((digest) => existsSync(places.blob(digest)))) return false;
  const loaded = loadedOr(places, id);
  if (loaded === undefined) return false;
  return loaded.manifest.layers.every(({ digest, size }, at) => hasLayer(places, loaded.layers[at]!) || sizeOf(places, digest) === size);
}

/** Bytes of all its blobs; null when the image is damaged. */
export function packedSize(places: Places, entry: Entry): number | null {
  const loaded = loadedOr(places, entry);
  if (loaded === undefined) return null;
  return [loaded.manifest.config, ...loaded.manifest.layers].reduce((sum, { size }) => sum + size, entry.manifestSize);
}

/** undefined when the image is damaged or absent. */
export function loadedOr(places: Places, id: ImageId): Loaded | undefined {
  try {
    return loadImage(places, id);
  } catch (error) {
    if (error instanceof ImageError) return undefined;
    throw error;
  }
}

function sizeOf(places: Places, digest: string): number | undefined {
  return lstatSync(places.blob(digest), { throwIfNoEntry: false })?.size;
}
