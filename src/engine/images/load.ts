/** An image of the store, by its digests. */
import { z } from "zod";
import { type ImageConfig, parseImageConfig } from "../spec/index.ts";
import { readBlob } from "./blob.ts";
import { layerNames } from "./chain.ts";
import { ImageError } from "./errors.ts";
import { jsonOf, type Manifest, parseManifest } from "./manifest.ts";
import type { Places } from "./places.ts";

export interface Loaded {
  readonly manifest: Manifest;
  readonly config: ImageConfig;
  /** Names of the unpacked layers, the lowest first. */
  readonly layers: readonly string[];
}

/** What names an image in this store. */
export interface ImageId {
  /** Digest of the manifest. */
  readonly manifest: string;
  /** Digest of the configuration as its source has it; null: that of the manifest. */
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
    throw new ImageError("image-invalid", `${digest}: it is no configuration of an image: ${z.prettifyError(error)}`, { cause: error });
  }
}
