/** What users do with images of the store beside running them: look at them, name them, and give them to others. */
import { constants, createReadStream, linkSync, lstatSync, mkdirSync, writeFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { type ImageReference, pinned, renderReference } from "../spec/index.ts";
import { putBlob, readBlob, readSmall } from "./blob.ts";
import { type Credentials, withCredentials } from "./credentials.ts";
import { ImageError } from "./errors.ts";
import { tagIn } from "./latest.ts";
import type { Entry, Layout } from "./layout.ts";
import { CONFIG_TYPE, jsonOf, MANIFEST_TYPE, parseManifest } from "./manifest.ts";
import type { Places } from "./places.ts";
import type { ImageDetail, ImageShelf, Pin } from "./port.ts";
import { inStaging } from "./staging.ts";
import { runTool, withProgress } from "./tool.ts";
import type { Lock } from "./waiting.ts";
import { hasBlob, isThere, sizeOf } from "./whole.ts";

export interface ShelfOptions {
  readonly places: Places;
  readonly layout: Layout;
  readonly lock: Lock;
  readonly credentials: Credentials;
}

/** Milliseconds in which skopeo has to read or write something. A registry may take its time for the end of a large layer. */
const STALLED_MS = 300_000;
/** Bytes of an archive that are passed on together. */
const PIECE = 256 * 1024;

export class Shelf implements ImageShelf {
  readonly #options: ShelfOptions;

  constructor(options: ShelfOptions) {
    this.#options = options;
  }

  inspect(reference: string): ImageDetail {
    const { places, layout } = this.#options;
    const entry = this.#find(reference);
    const manifest = parseManifest(readBlob(places.blob(entry.manifest), entry.manifest), entry.manifest);
    const digest = entry.config ?? manifest.config.digest;
    return {
      reference,
      digest: entry.digest,
      manifest: entry.manifest,
      names: layout.entries.filter((one) => one.manifest === entry.manifest).map((one) => one.reference),
      layers: manifest.layers,
      configuration: jsonOf(readBlob(places.blob(digest), digest), digest) as Readonly<Record<string, unknown>>,
    };
  }

  async tag(reference: string, name: string): Promise<string> {
    const { layout, lock } = this.#options;
    return lock.read(async () => {
      const entry = this.#find(reference);
      layout.put({ ...entry, reference: name, pulledMs: Date.now() });
      return entry.digest;
    });
  }

  async giveBack(
    reference: string,
    { digest, manifest, config }: Pin,
    isMeant: (now: Pick<Entry, "digest" | "pulledMs">) => boolean,
  ): Promise<string | undefined> {
    const { places, layout, lock } = this.#options;
    const tag = tagIn(reference);
    if (tag === undefined) return undefined;
    return lock.read(async () => {
      const now = layout.find(reference);
      const manifestSize = sizeOf(places, manifest);
      if (now === undefined || now.digest === digest || !isMeant(now)) return undefined;
      if (manifestSize === undefined || !isThere(places, { manifest, config })) return undefined;
      layout.put({ ...now, reference: renderReference(pinned(tag, now.digest)) });
      layout.put({ reference, digest, manifest, manifestSize, config, pulledMs: Date.now() });
      return now.digest;
    });
  }

  async save(
    reference: string,
    name: string | undefined,
    signal: AbortSignal,
    write: (piece: Uint8Array) => Promise<unknown>,
  ): Promise<void> {
    const archiveIn = (directory: string) => join(directory, "archive.tar");
    await this.#during(
      reference,
      signal,
      async ({ source, directory, ended }) => {
        const target = `docker-archive:${archiveIn(directory)}${name === undefined ? "" : `:${name}`}`;
        await runTool("skopeo", ["--tmpdir", directory, "copy", "--quiet", source, target], { signal: ended });
      },
      // A slow reader keeps nobody from the store.
      async (directory, ended) => {
        for await (const piece of createReadStream(archiveIn(directory), { highWaterMark: PIECE, signal: ended })) await write(piece);
      },
    );
  }

  async push(reference: string, target: ImageReference, credentials: string | undefined, signal: AbortSignal): Promise<string> {
    const push = (descriptor?: number) =>
      this.#during(reference, signal, async ({ source, manifest, ended }) => {
        const auth = descriptor === undefined ? [] : ["--dest-authfile", "/proc/self/fd/3"];
        const descriptors = descriptor === undefined ? [] : [descriptor];
        const words = ["copy", "--quiet", "--preserve-digests", ...auth, source, renderReference(target)];
        await withProgress((options) => runTool("skopeo", words, { ...options, descriptors }), {
          ...{ signal: ended, stalledMs: STALLED_MS },
          late: () =>
            new ImageError("push-failed", `${renderReference(target)}: the registry has taken nothing for ${STALLED_MS / 1000} s`),
        });
        return manifest;
      });
    return withCredentials(this.#options.credentials, credentials, signal, push);
  }

  async namesIn(archive: string, signal: AbortSignal): Promise<readonly string[]> {
    const source = `docker-archive:${archive}`;
    const { Tags: tags } = jsonOf(await runTool("skopeo", ["list-tags", source], { signal }), source) as { Tags?: unknown };
    return Array.isArray(tags) ? tags.map(String) : [];
  }

  #find(reference: string): Entry {
    const found = this.#options.layout.find(reference);
    if (found === undefined) throw new ImageError("unknown-image", "it is not in the store");
    return found;
  }

  /**
   * Calls `action` with a layout that has only this image. Its blobs are further names of those of the store: they stay although the store removes its own meanwhile, so
   * that a registry or a client that does not go on keeps nobody from the store. `after` may take longer.
   */
  async #during<T>(
    reference: string,
    signal: AbortSignal,
    action: (given: Given) => Promise<T>,
    after: (directory: string, ended: AbortSignal) => Promise<void> = async () => {},
  ): Promise<T> {
    const { places, lock } = this.#options;
    return inStaging({ places, signal, onProgress: () => {}, maxBytes: Number.POSITIVE_INFINITY }, async (directory, ended) => {
      const manifest = await lock.read(async () => {
        const found = await this.#manifestOf(this.#find(reference));
        const blobs = join(directory, "blobs", "sha256");
        mkdirSync(blobs, { recursive: true, mode: 0o700 });
        const { config, layers } = parseManifest(readBlob(places.blob(found.digest), found.digest), found.digest);
        for (const digest of new Set([found.digest, config.digest, ...layers.map((one) => one.digest)])) {
          ended.throwIfAborted();
          await linkOrCopy(places.blob(digest), join(blobs, basename(places.blob(digest))), digest);
        }
        return found;
      });
      const annotations = { "org.opencontainers.image.ref.name": "image" };
      const index = { schemaVersion: 2, manifests: [{ mediaType: MANIFEST_TYPE, ...manifest, annotations }] };
      writeFileSync(join(directory, "oci-layout"), '{"imageLayoutVersion":"1.0.0"}');
      writeFileSync(join(directory, "index.json"), JSON.stringify(index));
      const result = await action({ source: `oci:${directory}:image`, directory, ended, manifest: manifest.digest });
      await after(directory, ended);
      return result;
    });
  }

  /** With the configuration that its source had, because one of OCI has no health check. @throws ImageError: a part of it is gone */
  async #manifestOf({ manifest: digest, manifestSize, config }: Entry): Promise<{ readonly digest: string; readonly size: number }> {
    const { places } = this.#options;
    const bytes = readBlob(places.blob(digest), digest);
    const { layers } = parseManifest(bytes, digest);
    const gone = layers.find((layer) => !hasBlob(places, layer));
    if (gone !== undefined) throw new ImageError("unknown-image", `its layer ${gone.digest} is only there unpacked: pull it again`);
    if (config === null) return { digest, size: manifestSize };
    const size = readSmall(places.blob(config), config).length;
    const own = { ...(jsonOf(bytes, digest) as object), config: { mediaType: CONFIG_TYPE, digest: config, size } };
    const changed = Buffer.from(JSON.stringify(own));
    return { digest: await putBlob(places, changed), size: changed.length };
  }
}

/** What link(2) says where a file cannot have one more name: the file system has none or has no more, or the store is spread over several. */
const NO_LINKS: readonly unknown[] = ["EPERM", "EOPNOTSUPP", "ENOTSUP", "ENOSYS", "EMLINK", "EXDEV"];

/** Gives the blob a further name, or where that is not possible makes a copy, which shares the data where it can. @throws ImageError image-invalid */
export async function linkOrCopy(blob: string, path: string, digest: string, link: typeof linkSync = linkSync): Promise<void> {
  try {
    try {
      link(blob, path);
    } catch (error) {
      if (!NO_LINKS.includes((error as { readonly code?: string }).code)) throw error;
      if (!lstatSync(blob).isFile()) throw new Error("it is no regular file");
      await copyFile(blob, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    }
  } catch (error) {
    throw new ImageError("image-invalid", `${digest}: its blob cannot be passed on: ${(error as Error).message}`, { cause: error });
  }
}

interface Given {
  /** As skopeo names it. */
  readonly source: string;
  readonly directory: string;
  readonly ended: AbortSignal;
  /** Digest. */
  readonly manifest: string;
}
