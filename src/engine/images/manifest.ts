/** Parses the manifest of one image in the store: opencontainers/image-spec, manifest.md. Pure. */
import { z } from "zod";
import { boundedJson, firstIssue } from "../../shared/text/index.ts";
import { ImageError } from "./errors.ts";

export const DIGEST = /^sha256:[0-9a-f]{64}$/;

export const descriptor = z.object({ mediaType: z.string(), digest: z.string().regex(DIGEST), size: z.int().nonnegative() });
export type Descriptor = z.output<typeof descriptor>;

/** More entries than this are not looked at one by one: each wrong one would be a problem of its own. */
const MOST_ENTRIES = 1000;

const manifest = z.object({
  schemaVersion: z.literal(2),
  config: descriptor,
  layers: z.array(z.unknown()).max(MOST_ENTRIES).pipe(z.array(descriptor)),
});

export interface Manifest {
  readonly config: Descriptor;
  /** The lowest first. */
  readonly layers: readonly Descriptor[];
}

export const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
export const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
/** Media type of an uncompressed layer. */
export const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar";
/** Media types that umoci can unpack. */
const LAYERS = [LAYER_TYPE, `${LAYER_TYPE}+gzip`];
/** This many directories fit into the options of one mount (a page). */
const MOST_LAYERS = 110;

/** Parses a manifest of OCI or Docker. Media types of its parts are not checked. @throws ImageError image-invalid */
export function partsOf(bytes: Buffer, what: string): Manifest {
  const { success, data, error } = manifest.safeParse(jsonOf(bytes, what));
  if (!success) throw new ImageError("image-invalid", `${what}: it is no manifest of an image: ${firstIssue(error)}`);
  return data;
}

/** @throws ImageError image-invalid, image-unsupported */
export function parseManifest(bytes: Buffer, what: string): Manifest {
  const data = partsOf(bytes, what);
  if (data.layers.length > MOST_LAYERS)
    throw new ImageError("image-unsupported", `${what}: it has ${data.layers.length} layers, and ${MOST_LAYERS} are the most`);
  const unknown = data.layers.find(({ mediaType }) => !LAYERS.includes(mediaType));
  if (unknown !== undefined)
    throw new ImageError(
      "image-unsupported",
      `${what}: layer ${unknown.digest} is of the media type ${unknown.mediaType}, which cannot be unpacked`,
    );
  return data;
}

/** Most values of a manifest, an index or a configuration. Those of real images have some thousand. */
const MOST_VALUES = 100_000;

/** @param what name of the part in the error. @throws ImageError image-invalid */
export function jsonOf(bytes: Buffer, what: string, mostValues = MOST_VALUES): unknown {
  try {
    const value = boundedJson(bytes.toString(), mostValues);
    if (value !== undefined) return value;
  } catch (error) {
    throw new ImageError("image-invalid", `${what}: it is no JSON`, { cause: error });
  }
  throw new ImageError("image-invalid", `${what}: its JSON has more than ${mostValues} values, or nests too deeply`);
}
