/** Archives of Docker: one program copies what is in them as it is, and the manifest of OCI is made here. */
import { existsSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { type ImageReference, renderReference } from "../spec/index.ts";
import { digestOf, putBlob, readSmall } from "./blob.ts";
import type { CopyOptions, Fetched } from "./fetch.ts";
import { CONFIG_TYPE, type Descriptor, LAYER_TYPE, MANIFEST_TYPE, partsOf } from "./manifest.ts";
import { assertSmall, inStaging } from "./staging.ts";
import { runTool } from "./tool.ts";

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
