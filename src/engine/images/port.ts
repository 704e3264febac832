/** The interface of an image store, as the engine uses it. */
import type { ImageConfig, ImageReference, PullPolicy } from "../spec/index.ts";
import type { Collected, CollectPolicy } from "./collect.ts";
import type { ImageId } from "./load.ts";

/** How much of an image is there. What was there before the pull counts as well. */
export interface Progress {
  /** The bytes of its layers that are there, counted as they are packed. */
  readonly bytes: number;
  /** null: the source does not say. */
  readonly total: number | null;
  /** `done`: those that are there as a whole. null: the source does not say how many it has. */
  readonly layers: { readonly done: number; readonly total: number } | null;
}

/** One image, by its content. */
export interface Pin extends ImageId {
  readonly reference: string;
  /** Digest that the source gives for the content: of its manifest, or of its index of several manifests. */
  readonly digest: string;
  /** pulled: downloaded now. current: the source has nothing newer. cache: the source was not asked. usingCachedDigest: the source has failed. */
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  /** Why the source has failed. */
  readonly pullError?: string;
}

export interface PullRequest {
  readonly reference: string;
  readonly policy: PullPolicy;
  /** The image that was decided on earlier. If it is in the store, the source is not asked. */
  readonly pin?: Pin;
  /** Name of the credentials (engine settings); absent: the credentials named "default", if the host has them. */
  readonly credentials?: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** Called when the image is complete and missing layers are about to be unpacked. */
  readonly onUnpack?: () => void;
}

/** An image in the store. */
export interface StoredImage {
  readonly reference: string;
  /** Digest that the source gives for the content. */
  readonly digest: string;
  /** Digest of the manifest in the store. */
  readonly manifest: string;
  /** Size of the compressed image; null: the image is damaged, and the next pull fetches it again. */
  readonly sizeBytes: number | null;
  readonly pulledMs: number;
  readonly lastUsedMs: number;
  /** Whether a container uses the image or is going to, or a service may return to it. */
  readonly isUsed: boolean;
}

/** What is known of an image in the store. */
export interface ImageDetail {
  readonly reference: string;
  readonly digest: string;
  /** Digest of the manifest in the store. */
  readonly manifest: string;
  /** All references of this image. */
  readonly names: readonly string[];
  readonly layers: readonly { readonly mediaType: string; readonly digest: string; readonly size: number }[];
  /** As the image has it: the JSON of OCI or Docker. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** What users do with images of the store beside running them. */
export interface ImageShelf {
  /** @throws ImageError unknown-image, image-invalid */
  inspect(reference: string): ImageDetail;
  /** Gives an image a further name, which another image may have had. Returns its digest. @throws ImageError unknown-image */
  tag(reference: string, name: string): Promise<string>;
  /** Gives a tag back to an image that had it before, if `isMeant` says so of the one that has it now, which keeps a name with its digest. Returns the digest of that one; undefined: the tag stays. */
  giveBack(
    reference: string,
    to: Pin,
    isMeant: (now: { readonly digest: string; readonly pulledMs: number }) => boolean,
  ): Promise<string | undefined>;
  /**
   * Calls `write` with the pieces of an archive as `docker save` makes it. @param name that the image has in it; undefined: none
   * @throws ImageError; the reason of `signal`
   */
  save(reference: string, name: string | undefined, signal: AbortSignal, write: (piece: Uint8Array) => Promise<unknown>): Promise<void>;
  /** Sends an image to a registry. Returns the digest that it has there. @param credentials their name. @throws ImageError; the reason of `signal` */
  push(reference: string, target: ImageReference, credentials: string | undefined, signal: AbortSignal): Promise<string>;
  /** Names of the images in an archive of Docker, as it has them. @throws ImageError; the reason of `signal` */
  namesIn(archive: string, signal: AbortSignal): Promise<readonly string[]>;
}

export interface Root {
  /** Absolute path. */
  readonly rootfs: string;
  readonly volumes: readonly { readonly target: string; readonly source: string }[];
}

export interface RootOptions {
  /** Whose files it has; absent: those of the host. */
  readonly users?: RootUsers | undefined;
  /** Size of a file system of its own for what is written to it; absent: it is not limited. */
  readonly bytes?: number | undefined;
}

/** The users to which a root file system belongs, if the task has a user namespace. */
export interface RootUsers {
  /** Path of an id-mapped mount of the layers, in which the files belong to these users. */
  readonly layers: string;
  /** Host id to which their user 0 is mapped. */
  readonly first: number;
}

export interface Images {
  /** Path of the directory with the unpacked layers. */
  readonly layers: string;
  /** Pulls, checks and unpacks the image. @throws ImageError; the reason of `signal` */
  pull(request: PullRequest): Promise<Pin>;
  /**
   * Takes an archive of this host into the store under these names of registries. The result has the first name with the digest, which the store
   * keeps as a further name.
   * @throws ImageError; the reason of `signal`
   */
  take(archive: string, names: readonly string[], signal: AbortSignal): Promise<Pin>;
  /** Whether the file system of the store supports overlays. */
  hasOverlays(): Promise<boolean>;
  /** The configuration of the image. @throws ImageError image-invalid */
  config(image: ImageId): ImageConfig;
  /**
   * Makes the root file system of one incarnation; an existing one is replaced. May be repeated while nothing runs there.
   * @param volumes paths in it that become directories of their own, with the files that the image has there
   * @throws ImageError; the reason of `signal`; Error: the file system of a fixed size cannot be made
   */
  makeRoot(id: string, image: ImageId, volumes: readonly string[], signal: AbortSignal, options?: RootOptions): Promise<Root>;
  /** The paths that `makeRoot` has returned. */
  rootOf(id: string, volumes: readonly string[]): Root;
  /** The directory to which a path leads in the root file system, if nothing runs there; undefined: there is none. */
  directoryIn(id: string, path: string): string | undefined;
  /**
   * Bytes on the disk that the container has written to its root file system and to the volumes of its image.
   * @throws Error: they cannot be measured
   */
  writtenBy(id: string): Promise<number>;
  /** Unmounts and removes the root file system. Succeeds if it does not exist. @throws ImageError: it is in use */
  releaseRoot(id: string): Promise<void>;
  /** To look at images, to name them, and to give them to others. */
  readonly shelf: ImageShelf;
  /** All images, one entry for each name. */
  list(): readonly StoredImage[];
  /** Removes unused images. Waits for running pulls and for root file systems that are being made. */
  collect(policy: CollectPolicy, isPatient: boolean): Promise<Collected>;
  /**
   * Called at the start: removes unfinished work of an earlier daemon, and all root file systems except these. Returns the ids of the removed ones.
   */
  sweep(roots: Pick<ReadonlySet<string>, "has">): Promise<readonly string[]>;
}
