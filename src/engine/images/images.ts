/** The image store of an engine: pulls images, unpacks their layers, and makes root file systems of them. */
import { statSync, utimesSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { type ImageConfig, type ImageReference, parseReference, pinned, renderReference } from "../spec/index.ts";
import { Cleaner } from "./cleaner.ts";
import type { Collected, CollectPolicy } from "./collect.ts";
import { type Credentials, withCredentials } from "./credentials.ts";
import { ImageError } from "./errors.ts";
import { type CopyOptions, copyArchive, copySource, layersOf, resolveSource } from "./fetch.ts";
import { type Entry, Layout } from "./layout.ts";
import { Listeners } from "./listeners.ts";
import { type ImageId, type Loaded, loadImage } from "./load.ts";
import { type Overlays, overlaysOn } from "./overlays.ts";
import { Places } from "./places.ts";
import { pullDecision } from "./policy.ts";
import type { Images, Pin, PullRequest, Root, RootOptions, StoredImage } from "./port.ts";
import { progressOf } from "./progress.ts";
import { Roots } from "./roots.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "./scan.ts";
import { Shelf } from "./shelf.ts";
import { assertSmall, clearStaging } from "./staging.ts";
import { type UnpackOptions, unpackFlat, unpackLayers } from "./unpack.ts";
import { Unsynced } from "./unsynced.ts";
import { Flights, Lock, type Reading, Slots, within } from "./waiting.ts";
import { assertFits, assertSizes, isThere, packedSize } from "./whole.ts";

export interface ImageStoreOptions {
  /** Absolute path; the directory is made if it is absent. */
  readonly directory: string;
  readonly limits?: Partial<ImageLimits>;
  /** Milliseconds; default: ten minutes. */
  readonly pullTimeoutMs?: number | undefined;
  /** Pulls at once; default: 3. */
  readonly pullsAtOnce?: number | undefined;
  /** Credentials of registries, by name. Each is a file in the format of containers-auth.json(5). Default: none. */
  readonly credentials?: Credentials | undefined;
  /**
   * Images that are never removed: those of tasks, and those just pulled for them. The store knows the images of its root file systems itself.
   * Default: none.
   */
  readonly inUse?: (() => readonly ImageId[]) | undefined;
  /** Images that are not removed either, for a later return to them. A damaged one keeps nothing. Default: none. */
  readonly remembered?: (() => readonly ImageId[]) | undefined;
  /** Called when an image that is in use cannot be read, so that no blobs and layers are removed. @param manifest its digest */
  readonly onDamaged?: ((manifest: string) => void) | undefined;
  /** Id of this boot of the host. */
  readonly bootId: string;
  /** Called when unpacked layers could not be synced to the disk. The store tries again later. */
  readonly onSyncError: (error: unknown) => void;
  /** How root file systems are made. "copy" uses no overlays. Default: overlay where the file system allows it. */
  readonly roots?: "overlay" | "copy" | undefined;
}

const PULL_TIMEOUT_MS = 600_000;
const PULLS_AT_ONCE = 3;

export class ImageStore implements Images {
  readonly #options: ImageStoreOptions;
  readonly #limits: ImageLimits;
  readonly #places: Places;
  readonly #layout: Layout;
  readonly #roots: Roots;
  readonly #lock = new Lock();
  readonly #cleaner: Cleaner;
  readonly #slots: Slots;
  readonly #pulls = new Flights<Pin>();
  /** Callers that wait for each pull, by its key. */
  readonly #listeners = new Map<string, Listeners>();
  readonly #unpacks = new Flights<void>();
  readonly #unsynced: Unsynced;
  readonly shelf: Shelf;
  #tried: Promise<Overlays> | undefined;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#places = new Places(options.directory);
    this.#places.make();
    this.#layout = new Layout(this.#places.layout);
    this.#unsynced = new Unsynced({ places: this.#places, bootId: options.bootId, onError: options.onSyncError });
    this.#roots = new Roots(this.#places);
    const { inUse = () => [], remembered = () => [], onDamaged = () => {} } = options;
    this.#cleaner = new Cleaner({
      ...{ places: this.#places, layout: this.#layout, lock: this.#lock, remembered, onDamaged },
      used: () => [...inUse(), ...this.#roots.images()],
      lastUsedMs: (entry) => this.#lastUsedMs(entry),
    });
    this.shelf = new Shelf({ places: this.#places, layout: this.#layout, lock: this.#lock, credentials: options.credentials ?? {} });
    this.#slots = new Slots(options.pullsAtOnce ?? PULLS_AT_ONCE);
  }

  async sweep(roots: Pick<ReadonlySet<string>, "has">): Promise<readonly string[]> {
    // Files of pulls and unpackings that an earlier daemon has begun. The daemon and its programs have ended.
    await clearStaging(this.#places);
    await this.#unsynced.sweep();
    const strays = (await readdir(this.#places.roots)).filter((id) => !roots.has(id));
    for (const id of strays) await this.#roots.release(id);
    return strays;
  }

  async pull(request: PullRequest): Promise<Pin> {
    const { reference: text, policy, pin, signal } = request;
    const reference = parseReference(text);
    if (reference === undefined) throw new ImageError("pull-failed", `${text} is no reference to an image`);
    if (pin !== undefined && isThere(this.#places, pin))
      return this.#lock.read(async () => this.#ready(pin, signal, request.onUnpack), { signal });
    // What a container or a version runs is that digest, wherever the tag leads by now. Other sources cannot be asked for a digest.
    const exact = pin !== undefined && reference.transport === "docker" ? pinned(reference, pin.digest) : undefined;
    const key = JSON.stringify([text, exact?.digest ?? null, policy, request.credentials ?? null]);
    const name = exact === undefined ? text : renderReference(exact);
    const kind = pullDecision(policy, this.#cached(name) !== undefined).asksSource ? "pull" : "use";
    const told = this.#listeners.get(key) ?? new Listeners();
    this.#listeners.set(key, told);
    told.add(request);
    try {
      return await this.#pulls.join(key, signal, (shared) =>
        this.#filling({ kind, signal: shared }, async () => {
          const all = { ...request, ...told.all, policy, signal: shared };
          return exact === undefined ? this.#pull(reference, text, all) : this.#pullExactly(exact, text, all);
        }),
      );
    } finally {
      if (told.delete(request) === 0 && this.#listeners.get(key) === told) this.#listeners.delete(key);
    }
  }

  async take(archive: string, names: readonly string[], signal: AbortSignal): Promise<Pin> {
    const [source, ...named] = [`docker-archive:${archive}`, ...names].map(parseReference);
    if (source === undefined || named[0] === undefined) throw new ImageError("image-invalid", `${archive} is no path of an archive`);
    return this.#filling({ kind: "pull", signal }, async () => {
      const { maxBytes } = this.#limits;
      const fetched = await copyArchive(source, { signal, places: this.#places, maxBytes, onProgress: () => {} });
      const all = [renderReference(pinned(named[0]!, fetched.digest)), ...names];
      const [exact, ...others] = all.map((reference): Entry => ({ reference, ...fetched, pulledMs: Date.now() }));
      const pin = await this.#ready(pinOf(exact!, "pulled"), signal);
      for (const entry of [exact!, ...others]) this.#layout.put(entry);
      return pin;
    });
  }

  async hasOverlays(): Promise<boolean> {
    return (await this.#overlays()) !== "none";
  }

  async #filling(reading: Reading, action: () => Promise<Pin>): Promise<Pin> {
    try {
      return await this.#lock.read(action, reading);
    } catch (error) {
      this.#cleaner.collectBlobs().catch(() => {});
      throw error;
    }
  }

  list(): StoredImage[] {
    const used = new Set([...this.#cleaner.used, ...this.#cleaner.remembered].map(({ manifest }) => manifest));
    return this.#layout.entries.map((entry) => ({
      ...{ reference: entry.reference, digest: entry.digest, manifest: entry.manifest, isUsed: used.has(entry.manifest) },
      ...{ sizeBytes: packedSize(this.#places, entry), pulledMs: entry.pulledMs, lastUsedMs: this.#lastUsedMs(entry) },
    }));
  }

  async collect(policy: CollectPolicy, isPatient: boolean): Promise<Collected> {
    return this.#cleaner.collect(policy, isPatient);
  }

  /** Writes no earlier time than the one that is there: the clock may be behind until the host has asked for the time. */
  #touch({ manifest }: Pick<Entry, "manifest">): void {
    const now = new Date();
    if (statSync(this.#places.blob(manifest)).mtimeMs < now.getTime()) utimesSync(this.#places.blob(manifest), now, now);
  }

  #lastUsedMs({ manifest, pulledMs }: Entry): number {
    return Math.max(pulledMs, statSync(this.#places.blob(manifest), { throwIfNoEntry: false })?.mtimeMs ?? 0);
  }

  /** Pulls the digest that was pulled for this text before and that the store has lost. The name of the tag stays as it is. @throws ImageError */
  async #pullExactly(exact: ImageReference, text: string, request: PullRequest): Promise<Pin> {
    const name = renderReference(exact);
    try {
      return { ...(await this.#pull(exact, name, request)), reference: text };
    } catch (error) {
      if (!(error instanceof ImageError) || request.signal.aborted) throw error;
      throw new ImageError(error.code, `${name}, which ${text} was when it was pulled, is no longer in the store: ${error.message}`);
    }
  }

  async #pull(reference: ImageReference, text: string, request: PullRequest): Promise<Pin> {
    const cached = this.#cached(text);
    const decision = pullDecision(request.policy, cached !== undefined);
    if (!decision.asksSource) {
      if (cached === undefined) throw new ImageError("unknown-image", `${text} is not there, and is not to be got`);
      return this.#ready(pinOf(cached, "cache"), request.signal, request.onUnpack);
    }
    try {
      return await this.#slots.during(request.signal, () =>
        within(this.#options.pullTimeoutMs ?? PULL_TIMEOUT_MS, request.signal, (signal) =>
          this.#fetchAs(reference, text, { ...request, signal }),
        ),
      );
    } catch (error) {
      if (request.signal.aborted || !decision.fallsBack) throw error;
      return this.#ready(pinOf(cached!, "usingCachedDigest", (error as Error).message), request.signal, request.onUnpack);
    }
  }

  /** Passes credentials only for images of a registry. Other sources need none. */
  async #fetchAs(reference: ImageReference, text: string, request: PullRequest): Promise<Pin> {
    if (reference.transport !== "docker") return this.#fetch(reference, text, request);
    return withCredentials(this.#options.credentials ?? {}, request.credentials, request.signal, (descriptor) =>
      this.#fetch(reference, text, request, descriptor),
    );
  }

  async #fetch(reference: ImageReference, text: string, request: PullRequest, credentials?: number): Promise<Pin> {
    const { signal, onUnpack, onProgress = () => {} } = request;
    const current = this.#cached(text);
    const isArchive = reference.transport === "docker-archive";
    // For an archive that was not pulled before, the copy itself returns the digest.
    const resolved = isArchive && current === undefined ? undefined : await resolveSource(reference, { signal, credentials });
    if (resolved !== undefined && current?.digest === resolved.digest) return this.#ready(pinOf(current, "current"), signal, onUnpack);
    const { maxBytes } = this.#limits;
    const layers = resolved && (await layersOf(reference, resolved, { signal, credentials }));
    const tell = (staged: number) => onProgress(progressOf(this.#places, layers, staged));
    const { total } = progressOf(this.#places, layers, 0);
    if (total !== null) assertSmall(text, total, maxBytes);
    tell(0);
    const options: CopyOptions = { signal, credentials, places: this.#places, maxBytes, onProgress: tell };
    const fetched = resolved === undefined || isArchive ? copyArchive(reference, options) : copySource(reference, resolved, options);
    const entry: Entry = { reference: text, ...(await fetched), pulledMs: Date.now() };
    if (layers !== undefined) tell(0);
    const pin = await this.#ready(pinOf(entry, "pulled"), signal, onUnpack);
    this.#layout.put(entry);
    return pin;
  }

  /** Checks and unpacks the image, and marks it as used now. */
  async #ready(pin: Pin, signal: AbortSignal, onUnpack?: () => void): Promise<Pin> {
    const loaded = loadImage(this.#places, pin);
    assertFits(loaded, pin.reference);
    assertSizes(this.#places, loaded);
    await this.#unpack(loaded, signal, onUnpack);
    this.#touch(pin);
    return pin;
  }

  async #unpackOptions(signal: AbortSignal): Promise<UnpackOptions> {
    const overlays = await this.#overlays();
    return { places: this.#places, limits: this.#limits, flights: this.#unpacks, unsynced: this.#unsynced, overlays, signal };
  }

  async #unpack(loaded: Loaded, signal: AbortSignal, onUnpack?: () => void): Promise<void> {
    const options = { ...(await this.#unpackOptions(signal)), onUnpack };
    if (options.overlays === "none") await unpackFlat(loaded, options);
    else await unpackLayers(loaded, options);
  }

  config(id: ImageId): ImageConfig {
    return loadImage(this.#places, id).config;
  }

  directoryIn(id: string, path: string): string | undefined {
    return this.#roots.directoryIn(id, path);
  }

  rootOf(id: string, volumes: readonly string[]): Root {
    return { rootfs: this.#roots.path(id), volumes: volumes.map((target, at) => ({ target, source: this.#roots.volume(id, at) })) };
  }

  get layers(): string {
    return this.#places.layers;
  }

  async makeRoot(
    id: string,
    image: ImageId,
    volumes: readonly string[],
    signal: AbortSignal,
    { users, bytes }: RootOptions = {},
  ): Promise<Root> {
    const made = async () => {
      const loaded = loadImage(this.#places, image);
      await this.#unpack(loaded, signal);
      try {
        const options = await this.#unpackOptions(signal);
        if (options.overlays === "none" && bytes !== undefined)
          throw new ImageError(
            "image-unsupported",
            "a root file system of a fixed size needs overlays, which the state directory cannot have",
          );
        if (options.overlays === "none") await this.#roots.copy({ id, image, users }, await unpackFlat(loaded, options), signal);
        else await this.#roots.overlay({ id, image, users, bytes }, loaded.layers, options.overlays, signal);
        await this.#roots.fillVolumes(id, volumes, users, signal);
      } catch (error) {
        // A caller that gets no root file system would never release it.
        await this.#roots.release(id);
        throw error;
      }
      return this.rootOf(id, volumes);
    };
    return this.#lock.read(made, { signal });
  }

  async writtenBy(id: string): Promise<number> {
    return this.#roots.written(id);
  }

  async releaseRoot(id: string): Promise<void> {
    await this.#roots.release(id);
  }

  async #overlays(): Promise<Overlays> {
    const { roots } = this.#options;
    if (roots === "copy") return "none";
    this.#tried ??= overlaysOn(this.#places);
    const found = await this.#tried;
    // If overlays are configured, the error of the mount is reported instead of using a copy.
    return roots === "overlay" && found === "none" ? "synced" : found;
  }

  #cached(reference: string): Entry | undefined {
    const entry = this.#layout.find(reference);
    return entry !== undefined && isThere(this.#places, entry) ? entry : undefined;
  }
}

function pinOf({ reference, digest, manifest, config }: Entry, via: Pin["via"], pullError?: string): Pin {
  return { reference, digest, manifest, config, via, ...(pullError === undefined ? {} : { pullError }) };
}
