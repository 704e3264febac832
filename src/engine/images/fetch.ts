/** skopeo: what a source has under a name, and the copy of it into the store. */

import { closeSync, constants, existsSync, fstatSync, openSync, readFileSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ImageReference, pinned, renderReference } from "../spec/index.ts";
import { digestOf, LARGEST_JSON, putBlob, readSmall } from "./blob.ts";
import { ImageError } from "./errors.ts";
import { CONFIG_TYPE, type Descriptor, DIGEST, jsonOf, LAYER_TYPE, MANIFEST_TYPE, partsOf } from "./manifest.ts";
import { assertSmall, inStaging, type StagingOptions } from "./staging.ts";
import { runTool } from "./tool.ts";

/** Docker's manifests. skopeo converts them to OCI, whose configuration has no health check, so the configuration of the source is kept beside it. */
const DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json";

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Descriptor of a file with credentials. */
  readonly credentials?: number | undefined;
}

/** What the source has now. */
export interface Resolved {
  /** Digest of the bytes that the source returns for the name. */
  readonly digest: string;
  /** Bytes of the compressed layers; undefined for an index of several images. */
  readonly size: number | undefined;
  readonly isDocker: boolean;
  /** Digests that the copied manifest may have: its own, or those that an index names. undefined: skopeo converts the manifest to OCI, so its digest is not known. */
  readonly copies: readonly string[] | undefined;
}

function credentialsOf({ credentials }: FetchOptions) {
  const args = credentials === undefined ? [] : ["--authfile", "/proc/self/fd/3"];
  return { args, descriptors: credentials === undefined ? [] : [credentials] };
}

/** @throws ImageError; the reason of `signal` */
export async function resolveSource(reference: ImageReference, options: FetchOptions): Promise<Resolved> {
  const { args, descriptors } = credentialsOf(options);
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
  const sizes = Array.isArray(value?.layers) ? value.layers.map((layer: { size?: unknown } | null) => Number(layer?.size) || 0) : undefined;
  const digest = digestOf(raw);
  // skopeo opens what an index names, and does not ask whether that is it.
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
    size: sizes?.reduce((sum, one) => sum + one, 0),
    isDocker,
    copies: isDocker || value?.schemaVersion !== 2 ? undefined : copiesOf(digest, value?.manifests),
  };
}

function copiesOf(digest: string, manifests: unknown): readonly string[] | undefined {
  if (!Array.isArray(manifests)) return [digest];
  if (manifests.some((one) => one?.mediaType === DOCKER_MANIFEST)) return undefined;
  return manifests.map((one) => String(one?.digest));
}

export interface Fetched {
  /** As the source names the content. */
  readonly digest: string;
  readonly manifest: string;
  readonly manifestSize: number;
  readonly config: string | null;
}

export type CopyOptions = FetchOptions & StagingOptions;

/** Copies exactly what was resolved, nothing newer. Blobs that are in the store already are not fetched again. @throws ImageError; the reason of `signal` */
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
    // Otherwise layers that are not packed would be, and the image be another one.
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

/** The configuration as the source has it goes into the store beside the one that skopeo has made of it. */
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

// What the index of an OCI layout of this host names.

/** Digests of its manifests; undefined: there is no index, which skopeo says better. @throws ImageError image-invalid */
function listedIn(layout: string): readonly string[] | undefined {
  const path = join(layout, "index.json");
  const bytes = readRegular(path);
  if (bytes === undefined) return undefined;
  const value = jsonOf(bytes, path) as { manifests?: unknown } | null;
  return Array.isArray(value?.manifests) ? value.manifests.map((one: { digest?: unknown } | null) => String(one?.digest)) : [];
}

/** What is no file could block for ever, or never end. */
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

// Archives of Docker: one program copies what is in them as it is, and the manifest of OCI is made
// here.

/**
 * Copies the image, and says what it was. Nothing is asked before: a file of this host is not asked over a network, and each program that reads it takes as long as its start. Layers
 * stay as they are in the archive, which has them unpacked. @throws ImageError; the reason of `signal`
 */
export async function copyArchive(reference: ImageReference, options: CopyOptions): Promise<Fetched> {
  const { places, maxBytes } = options;
  const source = renderReference(reference);
  return inStaging(options, async (directory, signal) => {
    // With this flag skopeo changes no byte of the manifest: its digest is the one that a later look at the source finds.
    await runTool("skopeo", ["copy", "--quiet", "--preserve-digests", source, `dir:${directory}`], { signal });
    const bytes = readSmall(join(directory, "manifest.json"), source);
    const { config, layers } = partsOf(bytes, source);
    assertSmall(source, sizeOf(layers), maxBytes);
    const take = (mediaType: string, { digest }: Descriptor): Descriptor => {
      const [from, to] = [join(directory, digest.slice("sha256:".length)), places.blob(digest)];
      // Two layers may be the same.
      if (existsSync(from)) renameSync(from, to);
      return { mediaType, digest, size: statSync(to).size };
    };
    const manifest = Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType: MANIFEST_TYPE,
        // Docker's configuration has all that one of OCI has, and a health check.
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
