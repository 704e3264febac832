/** Shows, pulls and removes images for users, and removes unused images at intervals. */
import {
  type Builder,
  type Collected,
  type CollectPolicy,
  type ImageDetail,
  ImageError,
  type ImageId,
  type Images,
  type Pin,
  type PullRequest,
  type StoredImage,
} from "../images/index.ts";
import { type RevisionRecord, revisionKey, type ServiceRecord, type TaskRecord } from "../model/index.ts";
import { type ImageBuild, type ImageReference, type PullPolicy, parseReference } from "../spec/index.ts";
import { EngineError } from "./errors.ts";
import type { EngineLog } from "./log.ts";

export interface CleanUpSettings {
  /** Milliseconds between two cleanups; 0: no cleanups. Default: 30 minutes. */
  readonly everyMs?: number | undefined;
  /** Remove images that were unused for this many milliseconds. Default: a day. */
  readonly unusedMs?: number | undefined;
  /** The largest number of images that one cleanup removes. Default: 5. */
  readonly most?: number | undefined;
  /** References of images that are never removed. */
  readonly kept?: readonly string[] | undefined;
  /** Percent of the file system in use above which the age of unused images does not count. Default: 90. */
  readonly fullPercent?: number | undefined;
}

/** An image, and the tasks that use it. */
export interface ImageInfo extends StoredImage {
  /** Ids of the tasks. */
  readonly tasks: readonly string[];
  /** Whether the image is never removed. */
  readonly isKept: boolean;
}

export interface ImagePull {
  readonly reference: string;
  readonly policy?: PullPolicy | undefined;
  readonly credentials?: string | undefined;
}

export interface ImagePush {
  readonly reference: string;
  /** Default: to where the reference says. */
  readonly to?: string | undefined;
  /** Name of the credentials. */
  readonly credentials?: string | undefined;
}

/** An image, and its digest. */
export interface Pushed {
  readonly reference: string;
  readonly digest: string;
}

export interface ImageCareOptions {
  readonly images: Images;
  readonly builder: Builder;
  readonly records: ReadonlyMap<string, TaskRecord>;
  /** Pull policy for containers and pulls that do not set one. */
  readonly policy: PullPolicy;
  readonly cleanUp: CleanUpSettings;
  readonly log: EngineLog;
}

const EVERY_MS = 30 * 60_000;
const UNUSED_MS = 24 * 3_600_000;
const MOST = 5;
const FULL_PERCENT = 90;

/** The images of all containers of these tasks, including containers that have ended. */
export function imagesOf(records: Iterable<TaskRecord>): ImageId[] {
  return [...records].flatMap(({ containers }) => containers.flatMap(({ image }) => image ?? []));
}

/** What services may return to: the images of their versions, except of those that have failed and that their rollout does not need. */
export function imagesOfRevisions(services: Iterable<ServiceRecord>, records: ReadonlyMap<string, RevisionRecord>): ImageId[] {
  return [...services].flatMap(({ group, name, revisions, rollout }) => {
    const needed = [rollout.to, rollout.from];
    // A reboot of the host in the middle of a rollout says nothing about an image.
    const kept = revisions.filter(
      ({ number, verdict, reason }) => needed.includes(number) || verdict !== "failed" || reason?.code === "HostRebooted",
    );
    return kept.flatMap(({ number }) => Object.values(records.get(revisionKey({ group, service: name, number }))?.images ?? {}));
  });
}

export class ImageCare {
  readonly #options: ImageCareOptions;
  #timer: NodeJS.Timeout | undefined;
  #isCleaning = false;

  constructor(options: ImageCareOptions) {
    this.#options = options;
  }

  list(): ImageInfo[] {
    const records = [...this.#options.records.values()];
    const { kept = [] } = this.#options.cleanUp;
    return this.#options.images.list().map((image) => ({
      ...image,
      tasks: records.filter(({ containers }) => containers.some((one) => one.image?.manifest === image.manifest)).map(({ id }) => id),
      isKept: kept.includes(image.reference),
    }));
  }

  /** Pulls an image, by the same rules as for a container. @throws EngineError no-image; the reason of `signal` */
  async pull(
    { reference, policy = this.#options.policy, credentials }: ImagePull,
    signal: AbortSignal,
    told: Pick<PullRequest, "onProgress" | "onUnpack">,
  ): Promise<Pin> {
    try {
      return await this.#options.images.pull({
        reference,
        policy,
        signal,
        ...told,
        ...(credentials === undefined ? {} : { credentials }),
      });
    } catch (error) {
      throw refusal(reference, error);
    }
  }

  /** Builds an image, and keeps it in the store. @param onLine called with each line that the builder prints @throws EngineError no-image; the reason of `signal` */
  async build(asked: ImageBuild, signal: AbortSignal, onLine: (line: string) => void): Promise<Pin> {
    const { builder, log } = this.#options;
    try {
      const pin = await builder.build(asked, signal, onLine);
      log("info", "image-built", { reference: asked.reference, digest: pin.digest });
      return pin;
    } catch (error) {
      throw refusal(asked.reference, error);
    }
  }

  /** @throws EngineError no-image */
  async inspect(reference: string): Promise<ImageDetail> {
    return orRefused(reference, async () => this.#options.images.shelf.inspect(reference));
  }

  /** Gives an image of the store a further name. Returns its digest. @throws EngineError no-image */
  async tag(reference: string, name: string): Promise<string> {
    targetOf(name);
    return orRefused(reference, () => this.#options.images.shelf.tag(reference, name));
  }

  /** Calls `write` with the pieces of an archive of Docker. @throws EngineError no-image; the reason of `signal` */
  async save(reference: string, signal: AbortSignal, write: (piece: Uint8Array) => Promise<unknown>): Promise<void> {
    const parsed = parseReference(reference);
    const hasName = parsed?.transport === "docker" && parsed.tag !== undefined;
    const name = hasName ? `${parsed.place}:${parsed.tag}` : undefined;
    await orRefused(reference, () => this.#options.images.shelf.save(reference, name, signal, write));
  }

  /** Sends an image of the store to a registry. @throws EngineError no-image; the reason of `signal` */
  async push({ reference, to = reference, credentials }: ImagePush, signal: AbortSignal): Promise<Pushed> {
    const target = targetOf(to);
    const digest = await orRefused(reference, () => this.#options.images.shelf.push(reference, target, credentials, signal));
    return { reference: to, digest };
  }

  /**
   * Takes all images of an archive of Docker into the store. @param nameOf the reference for a name that the archive has
   * @param onTaken called with each reference. @throws EngineError no-image; the reason of `signal`
   */
  async load(archive: string, nameOf: (name: string) => string, signal: AbortSignal, onTaken: (taken: Pushed) => void): Promise<void> {
    const { images } = this.#options;
    await orRefused(archive, async () => {
      const names = await images.shelf.namesIn(archive, signal);
      if (names.length === 0) throw new ImageError("image-invalid", "it has no image with a name");
      for (const name of names) {
        const reference = nameOf(name);
        const { digest } = await images.take(`${archive}:${name}`, [reference], signal);
        onTaken({ reference, digest });
      }
    });
  }

  /** Removes images that no container uses and that were unused for `unusedMs`. Waits for pulls in progress for half a minute. @throws EngineError images-busy */
  async prune(policy: Pick<CollectPolicy, "unusedMs" | "most">): Promise<Collected> {
    const { kept } = this.#options.cleanUp;
    const collected = await this.#options.images.collect({ ...policy, kept }, false).catch((error: unknown) => {
      throw error instanceof ImageError && error.code === "store-busy" ? new EngineError("images-busy", error.message) : error;
    });
    // Not where the store was in use: the caller asks again.
    await this.#options.builder.dropCache(policy.unusedMs);
    return collected;
  }

  /** Starts the cleanups, except with the pull policy prefer-cached, which keeps images. */
  start(): void {
    const { everyMs = EVERY_MS } = this.#options.cleanUp;
    const { builder, log } = this.#options;
    builder.sweep().catch((error) => log("error", "build-left", { message: String(error) }));
    if (everyMs === 0 || this.#options.policy === "prefer-cached") return;
    this.#timer = setInterval(() => void this.#cleanUp(), everyMs).unref();
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #cleanUp(): Promise<void> {
    if (this.#isCleaning) return;
    this.#isCleaning = true;
    const { images, builder, cleanUp, log } = this.#options;
    const { unusedMs = UNUSED_MS, most = MOST, kept, fullPercent = FULL_PERCENT } = cleanUp;
    try {
      const { removed, freedBytes } = await images.collect({ unusedMs, most, kept, fullPercent }, true);
      await builder.dropCache(unusedMs);
      if (removed.length > 0) log("info", "images-removed", { references: removed.join(", "), freedBytes });
    } catch (error) {
      log("error", "images-not-removed", { message: String(error) });
    } finally {
      this.#isCleaning = false;
    }
  }
}

/** Where a name leads to. @throws EngineError no-image: it is no name with a tag of an image in a registry */
function targetOf(name: string): ImageReference {
  const target = parseReference(name);
  if (target?.transport === "docker" && target.tag !== undefined) return target;
  throw new EngineError("no-image", `${name} is no name with a tag of an image in a registry`, { reason: "image-invalid" });
}

/** @throws EngineError no-image; what else `action` throws */
async function orRefused<T>(reference: string, action: () => Promise<T>): Promise<T> {
  try {
    return await action();
  } catch (error) {
    throw refusal(reference, error);
  }
}

function refusal(reference: string, error: unknown): unknown {
  return error instanceof ImageError ? new EngineError("no-image", `${reference}: ${error.message}`, { reason: error.code }) : error;
}
