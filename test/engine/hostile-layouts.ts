/** OCI layouts as an enemy writes them: parts that are not what others say of them. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const digestOf = (bytes: Buffer | string) => createHash("sha256").update(bytes).digest("hex");
const pathOf = (layout: string, digest: string) => join(layout, "blobs/sha256", digest.slice("sha256:".length));
const jsonAt = (path: string) => JSON.parse(readFileSync(path, "utf8"));
const manifestOf = (layout: string) => jsonAt(join(layout, "index.json")).manifests[0];
export const layerOf = (layout: string) => jsonAt(pathOf(layout, manifestOf(layout).digest)).layers[0];

/** The layout with one part changed. @param isConsistent what names the part is changed with it */
export function changed(
  layout: string,
  what: "layer" | "config" | "manifest",
  change: (bytes: Buffer) => Buffer,
  isConsistent = false,
): string {
  const index = jsonAt(join(layout, "index.json"));
  const manifest = jsonAt(pathOf(layout, index.manifests[0].digest));
  const descriptor = { layer: manifest.layers[0], config: manifest.config, manifest: index.manifests[0] }[what];
  const path = pathOf(layout, descriptor.digest);
  const bytes = change(readFileSync(path));
  if (!isConsistent) writeFileSync(path, bytes);
  else {
    put(layout, descriptor, bytes);
    if (what !== "manifest") put(layout, index.manifests[0], Buffer.from(JSON.stringify(manifest)));
    writeFileSync(join(layout, "index.json"), JSON.stringify(index));
  }
  return layout;
}

function put(layout: string, descriptor: { digest: string; size: number }, bytes: Buffer): void {
  descriptor.digest = `sha256:${digestOf(bytes)}`;
  descriptor.size = bytes.length;
  writeFileSync(pathOf(layout, descriptor.digest), bytes);
}

export function withIndex(layout: string, text: string): string {
  writeFileSync(join(layout, "index.json"), text);
  return layout;
}

const INDEX = "application/vnd.oci.image.index.v1+json";
const REF = { "org.opencontainers.image.ref.name": "v1" };
const PLATFORM = { os: "linux", architecture: process.arch === "x64" ? "amd64" : process.arch };

/** The image below so many indexes. */
export function nested(layout: string, levels: number): string {
  let { annotations: _, ...descriptor } = manifestOf(layout);
  for (let level = 0; level < levels; level++) {
    const of = { mediaType: INDEX, digest: "", size: 0 };
    put(
      layout,
      of,
      Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [{ ...descriptor, platform: PLATFORM }] })),
    );
    descriptor = of;
  }
  return withIndex(layout, JSON.stringify({ schemaVersion: 2, manifests: [{ ...descriptor, annotations: REF }] }));
}

/** An index whose only image is itself; its digest cannot be right. */
export function selfish(layout: string): string {
  const digest = `sha256:${"1".repeat(64)}`;
  const itself = { mediaType: INDEX, digest, size: 300, platform: PLATFORM };
  writeFileSync(pathOf(layout, digest), JSON.stringify({ schemaVersion: 2, mediaType: INDEX, manifests: [itself] }));
  return withIndex(layout, JSON.stringify({ schemaVersion: 2, manifests: [{ ...itself, annotations: REF }] }));
}
