/** Loads an image of the store by its digests. */

import { createHash } from "node:crypto";
import { z } from "zod";
import { firstIssue } from "../../shared/text/index.ts";
import { type ImageConfig, parseImageConfig } from "../spec/index.ts";
import { readBlob } from "./blob.ts";
import { ImageError } from "./errors.ts";
import { jsonOf, type Manifest, parseManifest } from "./manifest.ts";
import type { Places } from "./places.ts";

export interface Loaded {
  readonly manifest: Manifest;
  readonly config: ImageConfig;
  /** Names of the unpacked layers, the lowest first. */
  readonly layers: readonly string[];
}

/** Identifies an image in this store. */
export interface ImageId {
  /** Digest of the manifest. */
  readonly manifest: string;
  /** Digest of the original configuration; null: the manifest names it. */
  readonly config: string | null;
}

/** @throws ImageError image-invalid, image-unsupported */
export function loadImage(places: Places, { manifest: digest, config: own }: ImageId): Loaded {
  const manifest = parseManifest(readBlob(places.blob(digest), digest), digest);
  const configDigest = own ?? manifest.config.digest;
  const config = configOf(readBlob(places.blob(configDigest), configDigest), configDigest);
  if (config.diffIds.length !== manifest.layers.length)
    throw new ImageError(
      "image-invalid",
      `${digest}: it has ${manifest.layers.length} layers, and its configuration ${config.diffIds.length}`,
    );
  return { manifest, config, layers: layerNames(config.diffIds) };
}

function configOf(bytes: Buffer, digest: string): ImageConfig {
  try {
    return parseImageConfig(jsonOf(bytes, digest));
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    throw new ImageError("image-invalid", `${digest}: it is no configuration of an image: ${firstIssue(error)}`);
  }
}

// Names of unpacked layers. The same layer gives different files on different lower layers, so its
// name is a hash over all of them (image-spec, config.md, ChainID).

/** Number of hexadecimal digits of a name. It is small, because the names of all layers of an image must fit into the options of one mount. */
const DIGITS = 28;

/** Returns one name for each layer, the lowest first. */
function layerNames(diffIds: readonly string[]): string[] {
  const chain: string[] = [];
  for (const diffId of diffIds) {
    const below = chain.at(-1);
    chain.push(below === undefined ? diffId : `sha256:${createHash("sha256").update(`${below} ${diffId}`).digest("hex")}`);
  }
  return chain.map((id) => id.slice("sha256:".length, "sha256:".length + DIGITS));
}
