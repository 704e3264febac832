/** OCI layouts in which something is wrong: indexes, manifests, configurations and archives that are nearly right. */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type TarFile, tar } from "../engine/image-files.ts";
import type { Random } from "./random.ts";

const OCI = "application/vnd.oci.image";
const KINDS = [`${OCI}.index.v1+json`, `${OCI}.manifest.v1+json`, `${OCI}.config.v1+json`, "x", ""];
const LAYERS = ["tar+gzip", "tar", "tar+zstd", "x"].map((kind) => `${OCI}.layer.v1.${kind}`);
const NAMES = ["a", "d/", "d/a", "../a", "/a", ".wh.a", ".wh..wh..opq", "d/../../a", "", "a".repeat(100), "a/b/c/d/e", "\0", "\xff"];
const ODD: readonly unknown[] = [
  null,
  -1,
  0,
  2 ** 53,
  "",
  "sha256:",
  `sha256:${"0".repeat(64)}`,
  "../../../etc/passwd",
  [],
  {},
  true,
  [null],
];

/** Writes one to this directory, in the place of what is there. */
export function writeHostileLayout(directory: string, random: Random): void {
  rmSync(directory, { recursive: true, force: true });
  const blobs = join(directory, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const put = (mediaType: string, content: Buffer | string) => {
    const bytes = spoiled(Buffer.from(content), random);
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, hex), bytes);
    return { mediaType, digest: `sha256:${hex}`, size: bytes.length };
  };
  const text = (value: unknown) => JSON.stringify(changed(value, random));
  const archives = Array.from({ length: random.below(4) }, () => archiveOf(random));
  const layers = archives.map((archive) => put(random.pick(LAYERS), random.below(4) === 0 ? archive : gzipSync(archive)));
  const diffs = archives.map((archive) => `sha256:${createHash("sha256").update(archive).digest("hex")}`);
  const settings = { Env: ["A=1", "A", ""], Cmd: ["x".repeat(random.below(2000))], User: random.pick(["0", "nobody", "1:x", "-1"]) };
  const config = put(
    KINDS[2]!,
    text({ os: "linux", architecture: "amd64", config: settings, rootfs: { type: "layers", diff_ids: diffs } }),
  );
  let top = { ...put(KINDS[1]!, text({ schemaVersion: 2, mediaType: KINDS[1], config, layers })), annotations: {} as object };
  for (let levels = random.below(4); levels > 0; levels--)
    top = { ...put(KINDS[0]!, text({ schemaVersion: 2, mediaType: random.pick(KINDS), manifests: [top] })), annotations: {} };
  top.annotations = { "org.opencontainers.image.ref.name": "v1" };
  const many = Array.from({ length: random.below(16) === 0 ? random.below(20_000) : 1 }, () => top);
  if (random.below(16) > 0) writeFileSync(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(directory, "index.json"), spoiled(Buffer.from(text({ schemaVersion: 2, manifests: many })), random));
  if (!existsSync(directory)) throw new Error(`${directory} was not made`);
}

function archiveOf(random: Random): Buffer {
  const one = (): TarFile => ({
    name: random.pick(NAMES),
    type: random.pick(["0", "0", "1", "2", "3", "5", "6", "L", "x", "g"]),
    content: random.pick(["", "x", "30 path=../../a\n", "x".repeat(random.below(5000))]),
    link: random.pick(NAMES),
    mode: random.below(0o10000),
    uid: random.below(100_000),
  });
  return spoiled(tar(Array.from({ length: random.below(12) }, one)), random);
}

/** Now and then a field of it, at any depth, is something else. */
function changed(value: unknown, random: Random): unknown {
  if (random.below(40) === 0) return random.pick(ODD);
  if (Array.isArray(value)) return value.length > 100 ? value : value.map((one) => changed(one, random));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, changed(one, random)]));
}

/** Now and then cut off, or with a byte changed. */
function spoiled(bytes: Buffer, random: Random): Buffer {
  const kind = random.below(20);
  if (kind === 0) return bytes.subarray(0, random.below(bytes.length + 1));
  if (kind === 1 && bytes.length > 0) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}
