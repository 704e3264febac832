/** Images for tests, made of bytes: also such as no program would make. */
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

export interface TarFile {
  readonly name: string;
  readonly content?: Buffer | string;
  /** Of POSIX: "0" a file (default), "1" a hard link, "2" a link, "3" a device, "5" a directory. */
  readonly type?: string;
  readonly link?: string;
  readonly mode?: number;
  readonly uid?: number;
  readonly device?: readonly [major: number, minor: number];
}

/** A ustar archive. */
export function tar(files: readonly TarFile[]): Buffer {
  const parts = files.flatMap((file) => {
    const content = Buffer.from(file.content ?? "");
    return [headerOf(file, content.length), content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

export function headerOf(
  { name, type = "0", link = "", mode = type === "5" ? 0o755 : 0o644, uid = 0, device }: TarFile,
  size: number,
): Buffer {
  const header = Buffer.alloc(512);
  const put = (text: string, at: number) => header.write(text, at, "latin1");
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(name, 0);
  put(octal(mode, 7), 100);
  put(octal(uid, 7), 108);
  put(octal(uid, 7), 116);
  put(octal(size, 11), 124);
  put(octal(1_700_000_000, 11), 136);
  put("        ", 148);
  put(type, 156);
  put(link, 157);
  put("ustar\x0000", 257);
  if (device !== undefined) {
    put(octal(device[0], 7), 329);
    put(octal(device[1], 7), 337);
  }
  const sum = header.reduce((total, byte) => total + byte, 0);
  put(`${octal(sum, 6)}\x00 `, 148);
  return header;
}

const hexOf = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");

export interface ImageText {
  /** The lowest first: archives. */
  readonly layers: readonly Buffer[];
  /** The part `config` of its configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Further fields of the configuration, and of the manifest. */
  readonly top?: Readonly<Record<string, unknown>>;
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly mediaType?: string;
  /** Instead of gzip. */
  readonly pack?: (archive: Buffer) => Buffer;
  readonly tag?: string;
}

const ARCHITECTURE = process.arch === "x64" ? "amd64" : process.arch;

/** An OCI layout of one image. Returns the digest of its manifest. */
export function writeLayout(directory: string, image: ImageText): string {
  const { layers, config = {}, top = {}, manifest: further = {}, pack = gzipSync, tag = "v1" } = image;
  const { mediaType = "application/vnd.oci.image.layer.v1.tar+gzip" } = image;
  const blobs = join(directory, "blobs/sha256");
  mkdirSync(blobs, { recursive: true });
  const put = (type: string, bytes: Buffer) => {
    writeFileSync(join(blobs, hexOf(bytes)), bytes);
    return { mediaType: type, digest: `sha256:${hexOf(bytes)}`, size: bytes.length };
  };
  const json = (type: string, value: unknown) => put(`application/vnd.oci.image.${type}.v1+json`, Buffer.from(JSON.stringify(value)));
  const rootfs = { type: "layers", diff_ids: layers.map((archive) => `sha256:${hexOf(archive)}`) };
  const configured = json("config", { os: "linux", architecture: ARCHITECTURE, config, rootfs, ...top });
  const packed = layers.map((archive) => put(mediaType, pack(archive)));
  const mediaTypeOfManifest = "application/vnd.oci.image.manifest.v1+json";
  const manifest = json("manifest", { schemaVersion: 2, mediaType: mediaTypeOfManifest, config: configured, layers: packed, ...further });
  const annotations = { "org.opencontainers.image.ref.name": tag };
  writeFileSync(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
  writeFileSync(join(directory, "index.json"), JSON.stringify({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] }));
  return manifest.digest;
}

/** Puts an index with the image of a layout before it, as registries have one for several kinds of processors. */
export function addIndex(directory: string): void {
  const path = join(directory, "index.json");
  const { manifests } = JSON.parse(readFileSync(path, "utf8"));
  const [{ annotations, ...manifest }] = manifests;
  const mediaType = "application/vnd.oci.image.index.v1+json";
  const one = { ...manifest, platform: { os: "linux", architecture: ARCHITECTURE } };
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests: [one] }));
  writeFileSync(join(directory, "blobs/sha256", hexOf(bytes)), bytes);
  const named = { mediaType, digest: `sha256:${hexOf(bytes)}`, size: bytes.length, annotations };
  writeFileSync(path, JSON.stringify({ schemaVersion: 2, manifests: [named] }));
}

/** As `docker save` writes it: a list of images, a configuration, and layers that are not packed. */
export function writeDockerArchive(path: string, { layers, config = {}, top = {}, tag = "v1" }: ImageText): void {
  const rootfs = { type: "layers", diff_ids: layers.map((archive) => `sha256:${hexOf(archive)}`) };
  const files = layers.map((content, at) => ({ name: `layer${at}.tar`, content }));
  const list = [{ Config: "config.json", RepoTags: [`a:${tag}`], Layers: files.map(({ name }) => name) }];
  const configured = { os: "linux", architecture: ARCHITECTURE, config, rootfs, ...top };
  const texts = { "manifest.json": list, "config.json": configured };
  writeFileSync(path, tar([...Object.entries(texts).map(([name, value]) => ({ name, content: JSON.stringify(value) })), ...files]));
}

let busybox: Buffer | undefined;

/** busybox as /bin/sh and other programs, an empty /tmp, and accounts. */
export function baseLayer(): Buffer {
  busybox ??= tar([
    { name: "bin/", type: "5" },
    { name: "bin/busybox", content: readFileSync("/bin/busybox"), mode: 0o755 },
    ...["sh", "cat", "sleep", "env", "id", "ls", "stat", "true", "touch", "pwd", "test", "wc", "find", "mkdir"].map((name) => ({
      name: `bin/${name}`,
      type: "2",
      link: "busybox",
    })),
    { name: "tmp/", type: "5", mode: 0o1777 },
    { name: "etc/", type: "5" },
    { name: "etc/passwd", content: "root:x:0:0::/:/bin/sh\nweb:x:1234:99::/:/bin/sh\n" },
    { name: "etc/group", content: "root:x:0:\nwww:x:99:\n" },
  ]);
  return busybox;
}
