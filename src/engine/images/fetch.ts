/** Uses skopeo to find out what image a source has under a name, and to copy it into the store. */

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { untilAnswered } from "../../node/index.ts";
import { type ImageReference, pinned, renderReference } from "../spec/index.ts";
import { digestOf, LARGEST_JSON, putBlob, readSmall } from "./blob.ts";
import { ImageError } from "./errors.ts";
import { CONFIG_TYPE, type Descriptor, DIGEST, jsonOf, LAYER_TYPE, MANIFEST_TYPE, partsOf } from "./manifest.ts";
import { assertSmall, inStaging, type StagingOptions } from "./staging.ts";
import { runTool } from "./tool.ts";
import { OWN_ARCHITECTURE } from "./whole.ts";

/**
 * Media type of Docker's manifests. skopeo converts them to OCI, whose configuration has no health check. Therefore the original configuration is
 * kept beside the converted one.
 */
const DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Descriptor of a file with credentials. */
  readonly credentials?: number | undefined;
}

export interface Layer {
  readonly digest: string;
  /** In bytes; 0: the manifest does not say. */
  readonly size: number;
}

/** The image that the source has now. */
export interface Resolved {
  /** Digest of the bytes that the source returns for the name. */
  readonly digest: string;
  /** The compressed layers; undefined for an index of several images. */
  readonly layers: readonly Layer[] | undefined;
  /** The digest of the manifest for this host, if the reference leads to an index. */
  readonly forHost?: string | undefined;
  readonly isDocker: boolean;
  /**
   * Digests that the copied manifest may have: its own, or those that an index names. undefined: skopeo converts the manifest to OCI, so its digest
   * is not known.
   */
  readonly copies: readonly string[] | undefined;
}

function credentialsOf({ credentials }: FetchOptions) {
  const args = credentials === undefined ? [] : ["--authfile", "/proc/self/fd/3"];
  return { args, descriptors: credentials === undefined ? [] : [credentials] };
}

/** @throws ImageError; the reason of `signal` */
export async function resolveSource(reference: ImageReference, options: FetchOptions): Promise<Resolved> {
  const { args, descriptors } = credentialsOf(options);
  if (reference.transport === "oci") await answered(reference.place, options.signal);
  const listed = reference.transport === "oci" ? listedIn(reference.place) : undefined;
  const raw = await runTool("skopeo", ["inspect", ...args, "--raw", renderReference(reference)], {
    ...{ signal: options.signal, descriptors, mostOutput: LARGEST_JSON },
  });
  const value = jsonOf(raw, renderReference(reference)) as {
    mediaType?: unknown;
    layers?: unknown;
    manifests?: unknown;
    schemaVersion?: unknown;
  } | null;
  const digest = digestOf(raw);
  // skopeo does not check that the content of a blob matches the digest in the index.
  if (listed !== undefined && !listed.includes(digest))
    throw new ImageError(
      "image-invalid",
      `${renderReference(reference)}: its index names no manifest with the digest ${digest}, and its content has that`,
    );
  if (reference.digest !== undefined && reference.digest !== digest)
    throw new ImageError("image-invalid", `${renderReference(reference)}: the source gives a manifest with the digest ${digest}`);
  const isDocker = value?.mediaType === DOCKER_MANIFEST;
  return {
    digest,
    layers: layersIn(value),
    forHost: forHostIn(value?.manifests),
    isDocker,
    copies: isDocker || value?.schemaVersion !== 2 ? undefined : copiesOf(digest, value?.manifests),
  };
}

/** Layers of what a copy would bring. Of an index of a registry its manifest for this host is asked for. undefined: the source does not say. @throws ImageError; the reason of `signal` */
export async function layersOf(reference: ImageReference, { layers, forHost }: Resolved, options: FetchOptions) {
  if (layers !== undefined || forHost === undefined || reference.transport !== "docker") return layers;
  const { args, descriptors } = credentialsOf(options);
  const source = renderReference(pinned(reference, forHost));
  const raw = await runTool("skopeo", ["inspect", ...args, "--raw", source], {
    ...{ signal: options.signal, descriptors, mostOutput: LARGEST_JSON },
  });
  return digestOf(raw) === forHost ? layersIn(jsonOf(raw, source)) : undefined;
}

function layersIn(manifest: unknown): readonly Layer[] | undefined {
  const { layers } = (manifest ?? {}) as { readonly layers?: unknown };
  if (!Array.isArray(layers)) return undefined;
  return layers.map((layer: { digest?: unknown; size?: unknown } | null) => ({
    digest: digestIn(layer),
    size: typeof layer?.size === "number" ? layer.size : 0,
  }));
}

/** @throws ImageError image-invalid: the source names no digest. Conversion of what it names instead could throw anything. */
function digestIn(part: { readonly digest?: unknown } | null): string {
  if (typeof part?.digest === "string") return part.digest;
  throw new ImageError("image-invalid", "its manifest has an entry without a digest");
}

function forHostIn(manifests: unknown): string | undefined {
  if (!Array.isArray(manifests)) return undefined;
  const isForHost = ({ platform }: { platform?: { os?: unknown; architecture?: unknown } }) =>
    platform?.os === "linux" && platform.architecture === OWN_ARCHITECTURE;
  const found = manifests.find((one) => typeof one === "object" && one !== null && isForHost(one)) as { digest?: unknown } | undefined;
  return typeof found?.digest === "string" && DIGEST.test(found.digest) ? found.digest : undefined;
}

function copiesOf(digest: string, manifests: unknown): readonly string[] | undefined {
  if (!Array.isArray(manifests)) return [digest];
  if (manifests.some((one) => one?.mediaType === DOCKER_MANIFEST)) return undefined;
  return manifests.map(digestIn);
}

export interface Fetched {
  /** Digest that the source gives for the content. */
  readonly digest: string;
  readonly manifest: string;
  readonly manifestSize: number;
  readonly config: string | null;
}

export type CopyOptions = FetchOptions & StagingOptions;

/**
 * Copies exactly what was resolved, nothing newer. Blobs that are in the store already are not fetched again.
 * @throws ImageError; the reason of `signal`
 */
export async function copySource(
  reference: ImageReference,
  { digest, isDocker, copies }: Resolved,
  options: CopyOptions,
): Promise<Fetched> {
  const source = renderReference(pinned(reference, digest));
  return inStaging(options, async (directory, signal) => {
    const { args, descriptors } = credentialsOf(options);
    const credentials = args.map((one) => (one === "--authfile" ? "--src-authfile" : one));
    const target = [`oci:${directory}:image`, "--dest-shared-blob-dir", options.places.blobs];
    // Without this option skopeo compresses layers that are not compressed, which changes the digest of the image.
    const preserve = copies === undefined ? [] : ["--preserve-digests"];
    await runTool("skopeo", ["copy", "--quiet", ...preserve, ...credentials, source, ...target], { signal, descriptors });
    const { manifests } = jsonOf(readSmall(join(directory, "index.json"), source), source) as {
      manifests: { digest: string; size: number }[];
    };
    const [manifest] = manifests;
    if (manifest === undefined || !DIGEST.test(manifest.digest))
      throw new ImageError("image-invalid", `${source}: no manifest has come of it`);
    if (copies?.includes(manifest.digest) === false) throw new ImageError("image-invalid", `${source}: it was changed while it was copied`);
    const config = isDocker ? await dockerConfig(source, { ...options, signal }) : null;
    return { digest, manifest: manifest.digest, manifestSize: manifest.size, config };
  });
}

/** Stores the original configuration beside the one that skopeo makes of it. */
async function dockerConfig(source: string, options: CopyOptions): Promise<string> {
  const { args, descriptors } = credentialsOf(options);
  const { signal, places } = options;
  const bytes = await runTool("skopeo", ["inspect", ...args, "--config", "--raw", source], {
    signal,
    descriptors,
    mostOutput: LARGEST_JSON,
  });
  return putBlob(places, bytes);
}

/** @throws ImageError pull-failed: its mount does not answer; the reason of `signal` */
async function answered(path: string, signal: AbortSignal): Promise<void> {
  try {
    await untilAnswered([path], { signal });
  } catch (error) {
    signal.throwIfAborted();
    throw new ImageError("pull-failed", (error as Error).message, { cause: error });
  }
}

// Reads the index of an OCI layout on this host.

/** Digests of its manifests; undefined: the index cannot be read, for which skopeo has a better message. @throws ImageError image-invalid */
function listedIn(layout: string): readonly string[] | undefined {
  const path = join(layout, "index.json");
  const bytes = readRegular(path);
  if (bytes === undefined) return undefined;
  const value = jsonOf(bytes, path) as { manifests?: unknown } | null;
  return Array.isArray(value?.manifests) ? value.manifests.map(digestIn) : [];
}

/**
 * undefined: the path cannot be opened. Only regular files are read: a FIFO could block for ever, and a device may have no end.
 * @throws ImageError image-invalid
 */
function readRegular(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY);
  } catch {
    return undefined;
  }
  try {
    const found = fstatSync(fd);
    if (!found.isFile()) throw new ImageError("image-invalid", `${path} is no regular file`);
    if (found.size > LARGEST_JSON) throw new ImageError("image-invalid", `${path} is larger than ${LARGEST_JSON} bytes`);
    return readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Archives of Docker: skopeo copies the parts unchanged, and the OCI manifest is made here.

/**
 * Copies the image and returns what it was. There is no inspection beforehand: it would cost another start of a program, and a local file needs no
 * saving of network traffic. Layers stay as they are in the archive, which has them uncompressed.
 * @throws ImageError; the reason of `signal`
 */
export async function copyArchive(reference: ImageReference, options: CopyOptions): Promise<Fetched> {
  const { places, maxBytes } = options;
  const source = renderReference(reference);
  return inStaging(options, async (directory, signal) => {
    // With this flag skopeo does not change the manifest, so that its digest is the one that a later `skopeo inspect` of the source gives.
    await runTool("skopeo", ["copy", "--quiet", "--preserve-digests", source, `dir:${directory}`], { signal });
    const bytes = readSmall(join(directory, "manifest.json"), source);
    const { config, layers } = partsOf(bytes, source);
    assertSmall(source, sizeOf(layers), maxBytes);
    const take = (mediaType: string, { digest }: Descriptor): Descriptor => {
      const [from, to] = [join(directory, digest.slice("sha256:".length)), places.blob(digest)];
      // Two layers may be the same, and the first move takes the file.
      if (existsSync(from)) renameSync(from, to);
      return { mediaType, digest, size: statSync(to).size };
    };
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        // Docker's configuration has all fields of an OCI configuration, and a health check.
        config: take(CONFIG_TYPE, config),
        layers: layers.map((layer) => take(LAYER_TYPE, layer)),
      }),
    );
    return { digest: digestOf(bytes), manifest: await putBlob(places, manifest), manifestSize: manifest.length, config: null };
  });
}

function sizeOf(layers: readonly Descriptor[]): number {
  return layers.reduce((sum, { size }) => sum + size, 0);
}
