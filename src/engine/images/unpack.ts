/**
 * Unpacks layers into directories, once for all images that use them. umoci unpacks a layer into an overlay over the lower layers, so that the
 * kernel records which files of the lower layers it removes.
 */
import { createHash } from "node:crypto";
import { chmodSync, mkdirSync, mkdtempSync, statfsSync, symlinkSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { removeScratch } from "../volumes/index.ts";
import { copyAttributes } from "./attributes.ts";
import { ImageError } from "./errors.ts";
import type { Loaded } from "./load.ts";
import type { Descriptor } from "./manifest.ts";
import { flagsOf, type Overlays } from "./overlays.ts";
import type { Places } from "./places.ts";
import { hasLayer, placeLayer } from "./places.ts";
import { Budget, type ImageLimits, scanLayer } from "./scan.ts";
import { assertInstalled, runTool } from "./tool.ts";
import type { Unsynced } from "./unsynced.ts";
import type { Flights } from "./waiting.ts";

export interface UnpackOptions {
  readonly places: Places;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
  /** Called before something is unpacked. */
  readonly onUnpack?: (() => void) | undefined;
  /** Unpackings in progress by layer name, because two images may need the same layer at once. */
  readonly flights: Flights<void>;
  readonly unsynced: Unsynced;
  /** How overlays are mounted while a layer is unpacked. */
  readonly overlays: Overlays;
}

/** The overlay is mounted in a mount namespace of its own, so that the mount disappears with the process, however that ends. */
const IN_OVERLAY = 'umask 022 && mount -t overlay overlay -o "$1" "$2" && exec umoci --log=error raw unpack --image "$3" "$2"';
/** umask 022 makes the directories that an archive only implies readable for everybody, whatever the umask of this process. */
const ALONE = 'umask 022 && exec umoci --log=error raw unpack --image "$1" "$2"';

/** Unpacks the missing layers. @throws ImageError; the reason of `signal` */
export async function unpackLayers({ manifest, config, layers }: Loaded, options: UnpackOptions): Promise<void> {
  const { places } = options;
  const missing = layers.map((name) => !hasLayer(places, name));
  // Layers that are already unpacked count, too. Otherwise an image pulled in parts could exceed the limits.
  if (missing.includes(true)) options.onUnpack?.();
  const sizes = missing.includes(true) ? await scanLayers(manifest.layers, options) : [];
  for (const [at, layer] of manifest.layers.entries()) {
    if (missing[at])
      await unpackOnce(layers[at]!, layers.slice(0, at), [{ layer, diffId: config.diffIds[at]!, bytes: sizes[at]! }], options);
  }
}

/** Name of the directory that contains the whole image. @param layers names of its layers, the lowest first */
export function flatName(layers: readonly string[]): string {
  return `flat-${layers.at(-1) ?? "empty"}`;
}

/** The whole image as one directory, for hosts without overlays. Returns its name among the layers. */
export async function unpackFlat({ manifest, config, layers }: Loaded, options: UnpackOptions): Promise<string> {
  const { places } = options;
  const name = flatName(layers);
  if (hasLayer(places, name)) return name;
  options.onUnpack?.();
  const sizes = await scanLayers(manifest.layers, options);
  await unpackOnce(
    name,
    [],
    manifest.layers.map((layer, at) => ({ layer, diffId: config.diffIds[at]!, bytes: sizes[at]! })),
    options,
  );
  return name;
}

/** Returns the unpacked size of each layer in bytes. */
async function scanLayers(layers: readonly Descriptor[], { places, limits, signal }: UnpackOptions): Promise<number[]> {
  const budget = new Budget(limits);
  const sizes: number[] = [];
  for (const layer of layers) {
    const before = budget.bytes;
    try {
      await scanLayer(places.blob(layer.digest), layer, budget, signal);
    } catch (error) {
      // The damaged blob is removed, because skopeo trusts existing blobs by their names and would never fetch it again.
      if (error instanceof ImageError && error.code === "image-invalid") removeOwnFile(places.blob(layer.digest));
      throw error;
    }
    sizes.push(budget.bytes - before);
  }
  return sizes;
}

/** In bytes. With less free space the disk counts as full, because a file system may keep its last blocks for itself. */
const LEAST_FREE = 65_536;

interface Part {
  readonly layer: Descriptor;
  readonly diffId: string;
  /** Minimum size when it is unpacked. */
  readonly bytes: number;
}

async function unpackOnce(name: string, below: readonly string[], parts: readonly Part[], options: UnpackOptions): Promise<void> {
  const { flights, places, unsynced } = options;
  await flights.join(name, options.signal, async (signal) => {
    if (hasLayer(places, name)) return;
    const directory = mkdtempSync(join(places.staging, "unpack-"));
    try {
      await unsynced.during(name, async () => {
        const content = await unpackIn(directory, below, parts, { ...options, signal });
        return () => placeLayer(places, name, content);
      });
    } finally {
      await removeScratch(directory);
    }
  });
}

/** Returns the path of the unpacked content. @param below names of the layers under it, the lowest first */
async function unpackIn(
  directory: string,
  below: readonly string[],
  parts: readonly Part[],
  { places, overlays, signal }: UnpackOptions,
): Promise<string> {
  const [content, work, merged] = ["content", "work", "merged"].map((one) => join(directory, one)) as [string, string, string];
  for (const path of [content, work, merged]) mkdirSync(path);
  const free = freeBytes(directory);
  chmodSync(content, 0o755);
  const image = `${makeLayout(join(directory, "image"), parts, places)}:image`;
  try {
    assertInstalled("umoci");
    if (below.length === 0) await runTool("sh", ["-c", ALONE, "sh", image, content], { signal });
    else {
      // The root directory keeps the attributes from the layer below, unless this layer changes them.
      copyAttributes(join(places.layers, below.at(-1)!), content);
      const from = (path: string) => relative(places.layers, path);
      const options = `${flagsOf(overlays)}lowerdir=${[...below].reverse().join(":")},upperdir=${from(content)},workdir=${from(work)}`;
      const args = ["--mount", "--propagation", "private", "sh", "-c", IN_OVERLAY, "sh", options, merged, image];
      await runTool("unshare", args, { cwd: places.layers, signal });
    }
  } catch (error) {
    const isFull = free < parts.reduce((sum, { bytes }) => sum + bytes, 0) || freeBytes(directory) < LEAST_FREE;
    throw isFull ? fullError(error, parts) : unpackError(error, parts, places);
  }
  return content;
}

/** Free space; 0 if the file system has no free inodes. */
function freeBytes(directory: string): number {
  const { bavail, bsize, files, ffree } = statfsSync(directory);
  return files > 0 && ffree === 0 ? 0 : bavail * bsize;
}

/** Blames the full disk and not the image. On a full disk umoci may crash (panic: d.nx != 0) without saying that it is full. */
function fullError(error: unknown, parts: readonly Part[]): unknown {
  if (!(error instanceof ImageError) || error.code !== "pull-failed") return error;
  const layers = parts.map(({ layer }) => layer.digest).join(", ");
  return new ImageError("pull-failed", `layer ${layers} could not be unpacked: no space left on device (${error.message})`, {
    cause: error,
  });
}

/** Removes the blobs that could not be unpacked, so that the next pull fetches them again. */
function unpackError(error: unknown, parts: readonly Part[], places: Places): unknown {
  if (!(error instanceof ImageError) || error.code !== "pull-failed") return error;
  for (const { layer } of parts) removeOwnFile(places.blob(layer.digest));
  return new ImageError(
    "image-invalid",
    `layer ${parts.map(({ layer }) => layer.digest).join(", ")} could not be unpacked: ${error.message}`,
    {
      cause: error,
    },
  );
}

/** Writes an image layout that contains just these layers. umoci checks each against its digests. */
function makeLayout(directory: string, parts: readonly Part[], places: Places): string {
  const blobs = join(directory, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, value: unknown): Descriptor => {
    const text = JSON.stringify(value);
    const hex = createHash("sha256").update(text).digest("hex");
    writeFileSync(join(blobs, hex), text);
    return { mediaType, digest: `sha256:${hex}`, size: Buffer.byteLength(text) };
  };
  for (const digest of new Set(parts.map(({ layer }) => layer.digest)))
    symlinkSync(places.blob(digest), join(blobs, digest.slice("sha256:".length)));
  const config = put("application/vnd.oci.image.config.v1+json", {
    ...{ os: "linux", architecture: "any", config: {} },
    rootfs: { type: "layers", diff_ids: parts.map(({ diffId }) => diffId) },
  });
  const manifest = put("application/vnd.oci.image.manifest.v1+json", { schemaVersion: 2, config, layers: parts.map(({ layer }) => layer) });
  const manifests = [{ ...manifest, annotations: { "org.opencontainers.image.ref.name": "image" } }];
  writeFileSync(join(directory, "index.json"), JSON.stringify({ schemaVersion: 2, manifests }));
  writeFileSync(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  return directory;
}
