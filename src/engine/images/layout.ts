/** The index of the image layout: which name stands for which image. */
import { lstatSync, renameSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { writeAtomically } from "../../node/index.ts";
import { firstIssue } from "../../shared/text/index.ts";
import { readOwnFile } from "../own/index.ts";
import { ImageError } from "./errors.ts";
import { descriptor, jsonOf, MANIFEST_TYPE } from "./manifest.ts";

/** opencontainers/image-spec, annotations.md */
const NAME = "org.opencontainers.image.ref.name";
const SOURCE = "org.runt.image.source-digest";
const CONFIG = "org.runt.image.source-config";
const PULLED = "org.runt.image.pulled";

const index = z.object({
  schemaVersion: z.literal(2),
  manifests: z.array(z.object({ ...descriptor.shape, annotations: z.record(z.string(), z.string()).default({}) })),
});

/** An image under one name. */
export interface Entry {
  /** The reference as a task writes it: "docker://HOST/NAME:TAG". */
  readonly reference: string;
  /** Digest that the source gives for the name: of a manifest, or of an index of several manifests. */
  readonly digest: string;
  /** Digest of the manifest in this layout. */
  readonly manifest: string;
  readonly manifestSize: number;
  /** Digest of the original configuration, if the OCI configuration has less in it; null: that of the manifest is used. */
  readonly config: string | null;
  readonly pulledMs: number;
}

const MARK = Buffer.from('{"imageLayoutVersion":"1.0.0"}');

export class Layout {
  readonly #directory: string;
  readonly #path: string;
  #entries: readonly Entry[];

  constructor(directory: string) {
    this.#directory = directory;
    this.#path = join(directory, "index.json");
    this.#entries = lstatSync(this.#path, { throwIfNoEntry: false }) === undefined ? [] : this.#read();
    try {
      this.#mark();
    } catch (error) {
      // A daemon must start on a full disk. The mark is written later, when the layout gets an image.
      if (!["ENOSPC", "EDQUOT"].includes((error as { readonly code?: string }).code ?? "")) throw error;
    }
  }

  /** Writes the file that marks the directory as an image layout (OCI image specification, image-layout.md). */
  #mark(): void {
    const path = join(this.#directory, "oci-layout");
    const there = lstatSync(path, { throwIfNoEntry: false });
    if (there?.isFile() && readOwnFile(path).equals(MARK)) return;
    writeAtomically(path, MARK, { durability: "none" });
  }

  /**
   * The index is only a cache. If it is damaged, or something else has its name, it is renamed and images are pulled again. Running containers know
   * their manifests from their tasks.
   */
  #read(): Entry[] {
    try {
      return entriesIn(readOwnFile(this.#path), this.#path);
    } catch (error) {
      if (!(error instanceof ImageError) && (error as { code?: string }).code !== "state-unreadable") throw error;
      renameSync(this.#path, `${this.#path}.damaged`);
      return [];
    }
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  find(reference: string): Entry | undefined {
    return this.#entries.find((one) => one.reference === reference);
  }

  /** Replaces an earlier entry of the same name. */
  put(entry: Entry): void {
    this.#write([...this.#entries.filter(({ reference }) => reference !== entry.reference), entry]);
  }

  remove(reference: string): void {
    this.#write(this.#entries.filter((one) => one.reference !== reference));
  }

  #write(entries: readonly Entry[]): void {
    const manifests = entries.map(({ reference, digest, manifest, manifestSize, config, pulledMs }) => ({
      mediaType: MANIFEST_TYPE,
      digest: manifest,
      size: manifestSize,
      annotations: {
        [NAME]: reference,
        [SOURCE]: digest,
        ...(config === null ? {} : { [CONFIG]: config }),
        [PULLED]: new Date(pulledMs).toISOString(),
      },
    }));
    this.#mark();
    writeAtomically(this.#path, JSON.stringify({ schemaVersion: 2, manifests }), { durability: "file" });
    this.#entries = entries;
  }
}

function entriesIn(bytes: Buffer, path: string): Entry[] {
  const { success, data, error } = index.safeParse(jsonOf(bytes, path, Number.POSITIVE_INFINITY));
  if (!success) throw new ImageError("image-invalid", `${path}: ${firstIssue(error)}`);
  return data.manifests.flatMap(({ digest: manifest, size: manifestSize, annotations }): Entry[] => {
    const { [NAME]: reference, [SOURCE]: digest, [CONFIG]: config = null, [PULLED]: pulled = "" } = annotations;
    if (reference === undefined || digest === undefined) return [];
    return [{ reference, digest, manifest, manifestSize, config, pulledMs: Date.parse(pulled) || 0 }];
  });
}
