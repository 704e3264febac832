/** The port to images: what the engine asks of a store of them. */
import type { ImageConfig, PullPolicy } from "../spec/index.ts";
import type { Collected, CollectPolicy } from "./collect.ts";
import type { ImageId } from "./load.ts";

export interface Progress {
  readonly bytes: number;
  /** null: the source does not say. */
  readonly total: number | null;
}

/** One image, by its content. */
export interface Pin extends ImageId {
  readonly reference: string;
  /** As its source names the content: digest of its manifest, or of its index of several. */
  readonly digest: string;
  /** pulled: it has come now. current: the source has nothing newer. cache: the source was not asked. usingCachedDigest: the source has failed. */
  readonly via: "pulled" | "current" | "cache" | "usingCachedDigest";
  /** Why the source has failed. */
  readonly pullError?: string;
}

export interface PullRequest {
  readonly reference: string;
  readonly policy: PullPolicy;
  /** What was decided before: if it is there, nothing else is asked for. */
  readonly pin?: Pin;
  /** Name of the credentials (engine settings); absent: those with the name "default", if the host has some. */
  readonly credentials?: string;
  readonly signal: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
  /** All of it has come, and layers that were not there are being unpacked. */
  readonly onUnpack?: () => void;
}

/** An image in the store. */
export interface StoredImage {
  readonly reference: string;
  /** As its source names the content. */
  readonly digest: string;
  /** Of the manifest in the store. */
  readonly manifest: string;
  /** As it is packed; null: it is damaged, and the next pull gets it anew. */
  readonly sizeBytes: number | null;
  readonly pulledMs: number;
  readonly lastUsedMs: number;
  /** A container is made of it, or is to be. */
  readonly isUsed: boolean;
}

export interface Root {
  /** Absolute path. */
  readonly rootfs: string;
  readonly volumes: readonly { readonly target: string; readonly source: string }[];
}

/** Users of whom a root file system is. */
export interface RootUsers {
  /** Mount of the directory with the layers, in which their files belong to these users. */
  readonly layers: string;
  /** Id of the host that is 0 for them. */
  readonly first: number;
}

export interface Images {
  /** Path of the directory with the unpacked layers. */
  readonly layers: string;
  /** Get it, check it, unpack it. @throws ImageError; the reason of `signal` */
  pull(request: PullRequest): Promise<Pin>;
  /** Take an archive of this host into the store: under these names of registries, and under the first one with its digest, which is that of the result. @throws ImageError; the reason of `signal` */
  take(archive: string, names: readonly string[], signal: AbortSignal): Promise<Pin>;
  /** Whether the file system of the store carries overlays. */
  hasOverlays(): Promise<boolean>;
  /** What it says of its process. @throws ImageError image-invalid */
  config(image: ImageId): ImageConfig;
  /**
   * The root file system of one incarnation, anew. May be repeated while nothing runs there.
   * @param volumes paths in it that become directories of their own, with what the image has there
   * @param users whose files it has; undefined: those of the host. @throws ImageError; the reason of `signal`
   */
  makeRoot(id: string, image: ImageId, volumes: readonly string[], signal: AbortSignal, users?: RootUsers): Promise<Root>;
  /** What `makeRoot` has made. */
  rootOf(id: string, volumes: readonly string[]): Root;
  /** The directory that a path leads to in what `makeRoot` has made, as long as nothing runs there; undefined: there is none. */
  directoryIn(id: string, path: string): string | undefined;
  /** Bytes on the disk that the container has written to its root file system, with the volumes of its image. @throws Error: they cannot be measured */
  writtenBy(id: string): Promise<number>;
  /** What is gone is released. @throws ImageError: it is in use */
  releaseRoot(id: string): Promise<void>;
  /** Every name. */
  list(): readonly StoredImage[];
  /** Remove what is not used. Pulls and root file systems that are being made are waited for. */
  collect(policy: CollectPolicy, isPatient: boolean): Promise<Collected>;
  /** At the start: remove what a daemon before has begun, and root file systems other than these. Returns the ids of those. */
  sweep(roots: Pick<ReadonlySet<string>, "has">): Promise<readonly string[]>;
}
