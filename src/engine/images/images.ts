/** The store of images: pulls, unpacked layers, and root file systems made of them. One engine has it. */
import { existsSync, statSync, utimesSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { signalNumber } from "../../shared/linux/index.ts";
import { type ImageConfig, type ImageReference, parseReference } from "../spec/index.ts";
import { removeScratch } from "../volumes/index.ts";
import { ImageError } from "./errors.ts";
import { copySource, resolveSource } from "./fetch.ts";
import { Flights } from "./flights.ts";
import { type Entry, Layout } from "./layout.ts";
import { type ImageId, type Loaded, loadImage } from "./load.ts";
import { Lock } from "./lock.ts";
import { Places } from "./places.ts";
import { pullDecision } from "./policy.ts";
import type { Images, Pin, PullRequest, Root } from "./port.ts";
import { canOverlay, Roots } from "./roots.ts";
import { DEFAULT_LIMITS, type ImageLimits } from "./scan.ts";
import { Slots } from "./slots.ts";
import { type UnpackOptions, unpackFlat, unpackLayers } from "./unpack.ts";

export interface ImageStoreOptions {
  /** Absolute; made if absent. */
  readonly directory: string;
  readonly limits?: Partial<ImageLimits>;
  /** Milliseconds; default: ten minutes. */
  readonly pullTimeoutMs?: number | undefined;
  /** Pulls at once; default: 3. */
  readonly pullsAtOnce?: number | undefined;
  /** copy: without overlays. Default: what the file system allows. */
  readonly roots?: "overlay" | "copy" | undefined;
}

const PULL_TIMEOUT_MS = 600_000;
const PULLS_AT_ONCE = 3;
/** Names of processors: of Node, and of Go. */
const ARCHITECTURES: Readonly<Record<string, string>> = {
  x64: "amd64",
  arm64: "arm64",
  ia32: "386",
  arm: "arm",
  riscv64: "riscv64",
  s390x: "s390x",
};

export class ImageStore implements Images {
  readonly #options: ImageStoreOptions;
  readonly #limits: ImageLimits;
  readonly #places: Places;
  readonly #layout: Layout;
  readonly #roots: Roots;
  readonly #lock = new Lock();
  readonly #slots: Slots;
  readonly #pulls = new Flights<Pin>();
  readonly #unpacks = new Flights<void>();
  #overlays: Promise<boolean> | undefined;

  constructor(options: ImageStoreOptions) {
    this.#options = options;
    this.#limits = { ...DEFAULT_LIMITS, ...options.limits };
    this.#places = new Places(options.directory);
    this.#places.make();
    this.#layout = new Layout(this.#places.layout);
    this.#roots = new Roots(this.#places);
    this.#slots = new Slots(options.pullsAtOnce ?? PULLS_AT_ONCE);
  }

  async sweep(roots: ReadonlySet<string>): Promise<readonly string[]> {
    // Pulls and unpackings that a daemon before this one has begun: it and its programs are dead.
    for (const name of await readdir(this.#places.staging)) await removeScratch(join(this.#places.staging, name));
    const strays = (await readdir(this.#places.roots)).filter((id) => !roots.has(id));
    for (const id of strays) await this.#roots.release(id);
    return strays;
  }

  async pull(request: PullRequest): Promise<Pin> {
    const { reference: text, policy, pin, signal } = request;
    const reference = parseReference(text);
    if (reference === undefined) throw new ImageError("pull-failed", `${text} is no reference to an image`);
    if (pin !== undefined && this.#isThere(pin)) return this.#lock.read(async () => this.#ready(pin, signal));
    const key = JSON.stringify([text, policy, request.credentials ?? null]);
    return this.#pulls.join(key, signal, (shared) =>
      this.#lock.read(() => this.#pull(reference, text, { ...request, policy, signal: shared })),
    );
  }

  async #pull(reference: ImageReference, text: string, request: PullRequest): Promise<Pin> {
    const cached = this.#cached(text);
    const decision = pullDecision(request.policy, cached !== undefined);
    if (!decision.asksSource) return this.#ready(pinOf(cached!, "cache"), request.signal);
    try {
      return await this.#slots.during(request.signal, () =>
        this.#timed(request.signal, (signal) => this.#fetch(reference, text, { ...request, signal })),
      );
    } catch (error) {
      if (request.signal.aborted || !decision.fallsBack) throw error;
      return this.#ready(pinOf(cached!, "usingCachedDigest", (error as Error).message), request.signal);
    }
  }

  async #fetch(reference: ImageReference, text: string, request: PullRequest): Promise<Pin> {
    const { signal, onProgress = () => {} } = request;
    const resolved = await resolveSource(reference, { signal });
    const current = this.#cached(text);
    if (current?.digest === resolved.digest) return this.#ready(pinOf(current, "current"), signal);
    const { maxBytes } = this.#limits;
    const total = resolved.size ?? null;
    if (total !== null && total > maxBytes)
      throw new ImageError("image-refused", `${text}: packed it has ${total} bytes, and this host allows ${maxBytes}`);
    onProgress({ bytes: 0, total });
    const fetched = await copySource(reference, resolved, {
      ...{ signal, places: this.#places, maxBytes },
      onProgress: (bytes) => onProgress({ bytes, total }),
    });
    const entry: Entry = { reference: text, digest: resolved.digest, ...fetched, pulledMs: Date.now() };
    const pin = await this.#ready(pinOf(entry, "pulled"), signal);
    this.#layout.put(entry);
    return pin;
  }

  /** Checked, unpacked, and marked as used. */
  async #ready(pin: Pin, signal: AbortSignal): Promise<Pin> {
    const loaded = loadImage(this.#places, pin);
    assertFits(loaded, pin.reference);
    this.#assertSizes(loaded);
    await this.#unpack(loaded, signal);
    const now = new Date();
    utimesSync(this.#places.blob(pin.manifest), now, now);
    return pin;
  }

  /** umoci looks at digests only. What is unpacked already may be gone as a blob. @throws ImageError image-invalid */
  #assertSizes({ manifest }: Loaded): void {
    for (const { digest, size } of manifest.layers) {
      const found = statSync(this.#places.blob(digest), { throwIfNoEntry: false })?.size ?? size;
      if (found !== size) throw new ImageError("image-invalid", `layer ${digest} has ${found} bytes, and its manifest says ${size}`);
    }
  }

  #unpackOptions(signal: AbortSignal): UnpackOptions {
    return { places: this.#places, limits: this.#limits, flights: this.#unpacks, signal };
  }

  async #unpack(loaded: Loaded, signal: AbortSignal): Promise<void> {
    const options = this.#unpackOptions(signal);
    if (await this.#hasOverlays()) await unpackLayers(loaded, options);
    else await unpackFlat(loaded, options);
  }

  config(id: ImageId): ImageConfig {
    return loadImage(this.#places, id).config;
  }

  rootOf(id: string, volumes: readonly string[]): Root {
    return { rootfs: this.#roots.path(id), volumes: volumes.map((target, at) => ({ target, source: this.#roots.volume(id, at) })) };
  }

  async makeRoot(id: string, image: ImageId, volumes: readonly string[]): Promise<Root> {
    return this.#lock.read(async () => {
      const loaded = loadImage(this.#places, image);
      const signal = new AbortController().signal;
      await this.#unpack(loaded, signal);
      if (await this.#hasOverlays()) await this.#roots.overlay(id, loaded.layers);
      else await this.#roots.copy(id, await unpackFlat(loaded, this.#unpackOptions(signal)));
      await this.#roots.fillVolumes(id, volumes);
      return this.rootOf(id, volumes);
    });
  }

  async releaseRoot(id: string): Promise<void> {
    await this.#roots.release(id);
  }

  #hasOverlays(): Promise<boolean> {
    const { roots } = this.#options;
    this.#overlays ??= roots === undefined ? canOverlay(this.#places) : Promise.resolve(roots === "overlay");
    return this.#overlays;
  }

  #cached(reference: string): Entry | undefined {
    const entry = this.#layout.find(reference);
    return entry !== undefined && this.#isThere(entry) ? entry : undefined;
  }

  /** All that is needed to unpack it, or to run it. */
  #isThere({ manifest, config }: ImageId): boolean {
    if (![manifest, ...(config === null ? [] : [config])].every((digest) => existsSync(this.#places.blob(digest)))) return false;
    try {
      const loaded = loadImage(this.#places, { manifest, config });
      return loaded.manifest.layers.every(({ digest, size }, at) => {
        if (existsSync(join(this.#places.layers, loaded.layers[at]!))) return true;
        return statSync(this.#places.blob(digest), { throwIfNoEntry: false })?.size === size;
      });
    } catch (error) {
      if (error instanceof ImageError) return false;
      throw error;
    }
  }

  /** Within the time that a pull may take. */
  async #timed<T>(outer: AbortSignal, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const ms = this.#options.pullTimeoutMs ?? PULL_TIMEOUT_MS;
    const controller = new AbortController();
    const timer = setTimeout(
      () => controller.abort(new ImageError("pull-timeout", `PullTimeout: it was not there within ${ms / 1000} s`)),
      ms,
    );
    const end = () => controller.abort(outer.reason);
    outer.addEventListener("abort", end);
    if (outer.aborted) end();
    try {
      return await action(controller.signal);
    } finally {
      clearTimeout(timer);
      outer.removeEventListener("abort", end);
    }
  }
}

function pinOf({ reference, digest, manifest, config }: Entry, via: Pin["via"], pullError?: string): Pin {
  return { reference, digest, manifest, config, via, ...(pullError === undefined ? {} : { pullError }) };
}

/** @throws ImageError image-unsupported, image-invalid */
function assertFits({ config: { os, architecture, stopSignal } }: Loaded, reference: string): void {
  const own = ARCHITECTURES[process.arch] ?? process.arch;
  if (os !== "linux" || architecture !== own)
    throw new ImageError("image-unsupported", `${reference}: it is for ${os}/${architecture}, and this host is linux/${own}`);
  if (stopSignal !== null && !/^\d+$/.test(stopSignal) && signalNumber(stopSignal.replace(/^SIG/, "")) === undefined)
    throw new ImageError("image-invalid", `${reference}: its stop signal ${JSON.stringify(stopSignal.slice(0, 50))} is none`);
}
