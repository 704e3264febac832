/** Checks whether an image in the store is complete, and whether this host can run it. */
import { existsSync, lstatSync } from "node:fs";
import { signalNumber } from "../../shared/linux/index.ts";
import { ImageError } from "./errors.ts";
import type { Entry } from "./layout.ts";
import { type ImageId, type Loaded, loadImage } from "./load.ts";
import type { Places } from "./places.ts";
import { hasLayer } from "./places.ts";

/** umoci checks only digests, not sizes. A layer that is already unpacked may have no blob any more. @throws ImageError image-invalid */
export function assertSizes(places: Places, { manifest }: Loaded): void {
  for (const { digest, size } of manifest.layers) {
    const found = sizeOf(places, digest) ?? size;
    if (found !== size) throw new ImageError("image-invalid", `layer ${digest} has ${found} bytes, and its manifest says ${size}`);
  }
}

/** Whether the packed layer is there. */
export function hasBlob(places: Places, { digest, size }: { readonly digest: string; readonly size: number }): boolean {
  return sizeOf(places, digest) === size;
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

/** Of the file that has the name of a blob; undefined: there is none. */
export function sizeOf(places: Places, digest: string): number | undefined {
  return lstatSync(places.blob(digest), { throwIfNoEntry: false })?.size;
}

// Checks whether an image is made for this host.

/** Names of processors in Node, and the names that Go uses for them. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  ia32: "386",
  arm: "arm",
  riscv64: "riscv64",
  s390x: "s390x",
};

/** As images name it. */
export const OWN_ARCHITECTURE = ARCHITECTURES[process.arch] ?? process.arch;

/** @throws ImageError image-unsupported, image-invalid */
export function assertFits({ config: { os, architecture, stopSignal } }: Loaded, reference: string): void {
  if (os !== "linux" || architecture !== OWN_ARCHITECTURE)
    throw new ImageError("image-unsupported", `${reference}: it is for ${os}/${architecture}, and this host is linux/${OWN_ARCHITECTURE}`);
  if (stopSignal !== null && !/^\d+$/.test(stopSignal) && signalNumber(stopSignal.replace(/^SIG/, "")) === undefined)
    throw new ImageError("image-invalid", `${reference}: its stop signal ${JSON.stringify(stopSignal.slice(0, 50))} is none`);
}
