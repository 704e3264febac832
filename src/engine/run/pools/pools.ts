/** The pools of the engine: each record has a pool, which is opened when the record is there, and removed when the record says so. */
import { existsSync, readdirSync } from "node:fs";
import { type Box, Pool, type PoolFailure, type PoolStats, type TakeRequest } from "../../../executor/index.ts";
import type { ImageId, Images, Pin } from "../../images/index.ts";
import { currentPool, type PoolRecord } from "../../model/index.ts";
import { makeOwnDirectory, removeOwnTree } from "../../own/index.ts";
import type { PoolSpec, PullPolicy } from "../../spec/index.ts";
import type { Edits } from "../desired/edits.ts";
import type { Caller } from "../desired/journal.ts";
import { tellOfPool } from "../desired/pools.ts";
import { unknownPool } from "../errors.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { KeptPool, type PoolPlace } from "./kept-pool.ts";
import { PoolRoots } from "./root.ts";

/** A pool as users see it. The counts begin when this engine opens it. */
export interface PoolView extends Omit<PoolStats, "failing"> {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  /** opening: it has no container yet. failing: none can be made. ending: it is being removed. */
  readonly state: "opening" | "ready" | "failing" | "ending";
  /** null: it has none, or it was not pulled yet. */
  readonly image: { readonly reference: string; readonly digest: string } | null;
  /** null: containers can be made. */
  readonly failing: PoolFailure | null;
  readonly createdMs: number;
  /** Path of the file that the pool was applied from. null: the client has not named one. */
  readonly from: string | null;
}

export interface PoolDetail extends PoolView {
  readonly spec: PoolSpec;
}

export interface PoolsOptions {
  readonly paths: Paths;
  readonly records: ReadonlyMap<string, PoolRecord>;
  readonly edits: Edits;
  readonly images: Images;
  /** Path of the runt executable. */
  readonly binary: string;
  /** Path of a cgroup. */
  readonly cgroupParent: string;
  /** Directory for root file systems, which everybody can enter. */
  readonly rootsDirectory: string;
  /** For pools that set none. */
  readonly pullPolicy: PullPolicy;
  readonly log: EngineLog;
}

const NO_COUNTS = { parked: 0, making: 0, taken: 0, waiting: 0, takes: 0, waits: 0, refills: 0, failures: 0, adopted: 0, discarded: 0 };

export class Pools {
  readonly #options: PoolsOptions;
  readonly #roots: PoolRoots;
  readonly #kept = new Map<string, KeptPool>();
  /** Images that were pulled and are not in a record yet. They must not be removed. */
  readonly #fresh = new Map<string, Pin>();
  #runs = false;

  constructor(options: PoolsOptions) {
    this.#options = options;
    this.#roots = new PoolRoots(options.images, options.rootsDirectory);
  }

  /** The images that pools need. */
  get used(): readonly ImageId[] {
    return [...this.#fresh.values(), ...[...this.#options.records.values()].flatMap(({ image }) => image ?? [])];
  }

  /** Opens the pools, and removes what is left of those that the store does not know. Called once, when what an earlier engine was doing has ended. */
  start(): void {
    const { paths, records, log } = this.#options;
    this.#runs = true;
    this.refresh();
    const there = existsSync(paths.pools) ? readdirSync(paths.pools) : [];
    for (const id of new Set([...there, ...this.#roots.ids].filter((one) => !records.has(one))))
      this.#discard(id).catch((error) => log("error", "pool-left", { pool: id, message: String(error) }));
  }

  /** Follows the records. Called after each change. */
  refresh(): void {
    if (!this.#runs) return;
    for (const record of this.#options.records.values()) {
      const kept = this.#kept.get(record.id) ?? this.#keep(record);
      if (record.ending !== undefined) kept.end(record.ending);
    }
  }

  /** Containers stay, and another engine may take them over. */
  stop(): void {
    this.#runs = false;
    for (const kept of this.#kept.values()) kept.leave();
  }

  /** By group, name and age. */
  list(): PoolView[] {
    const all = [...this.#options.records.values()].map((record) => this.#viewOf(record));
    const key = ({ group, name, createdMs }: PoolView) => `${group}/${name}/${createdMs}`;
    return all.sort((a, b) => (key(a) < key(b) ? -1 : 1));
  }

  /** One that is being removed has its name until nothing of it is left, or another one has it. @throws EngineError unknown-pool */
  get(name: string, group: string): PoolDetail {
    const record = this.#find(name, group);
    return { ...this.#viewOf(record), spec: record.spec };
  }

  /**
   * A container of the pool with its program. Waits while none is ready.
   * @throws EngineError unknown-pool, pool-unavailable, invalid-argument; as Pool.take
   */
  async take(name: string, group: string, request: TakeRequest): Promise<Box> {
    const { id } = this.#find(name, group);
    const kept = this.#kept.get(id);
    if (kept === undefined) throw unknownPool(name, group, this.#options.records.values());
    return kept.take(request);
  }

  /** Removes a pool. drain: programs that run may end. @throws EngineError unknown-pool; StoreError not-written */
  async delete(name: string, group: string, how: "drain" | "kill", by?: Caller): Promise<void> {
    await this.#options.edits.make(by, (commands) => commands.deletePool(name, group, how));
  }

  #find(name: string, group: string): PoolRecord {
    const all = [...this.#options.records.values()];
    const found = currentPool(all, group, name) ?? all.findLast((one) => one.group === group && one.name === name);
    if (found === undefined) throw unknownPool(name, group, this.#options.records.values());
    return found;
  }

  #viewOf(record: PoolRecord): PoolView {
    const { id, group, name, spec, image, createdMs, from = null, ending } = record;
    const kept = this.#kept.get(id);
    const { size: _, failing: __, ...counts } = kept?.stats ?? { ...NO_COUNTS, size: 0, failing: undefined };
    const failure = kept?.failure;
    const isOpen = kept?.stats !== undefined;
    return {
      ...{ id, group, name, size: spec.size, ...counts, createdMs, from },
      state: ending !== undefined ? "ending" : failure !== undefined ? "failing" : isOpen ? "ready" : "opening",
      image: image && { reference: image.reference, digest: image.digest },
      failing: failure ?? null,
    };
  }

  #keep(record: PoolRecord): KeptPool {
    const { paths, binary, cgroupParent, log } = this.#options;
    const kept = new KeptPool(record, {
      ...{ stateDir: paths.pool(record.id), binary, cgroupParent, log },
      prepare: (one, signal) => this.#prepare(one, signal),
      clean: ({ id }) => this.#clean(id),
      tellFailure: (id, failure) => this.#tellFailure(id, failure),
      forget: (id) => this.#forget(id),
    });
    this.#kept.set(record.id, kept);
    return kept;
  }

  /** The image is recorded before anything is made of it. @throws ImageError, StoreError; the reason of `signal` */
  async #prepare(record: PoolRecord, signal: AbortSignal): Promise<PoolPlace> {
    const { images, paths } = this.#options;
    makeOwnDirectory(paths.pools, { mode: 0o711 });
    const { image: reference, rootfs } = record.spec;
    if (reference === undefined) return { rootfs: rootfs!, image: undefined };
    const image = await this.#pull(record, reference, signal);
    return { rootfs: await this.#roots.make(record, image, signal), image: images.config(image) };
  }

  /** The image that is in the record, if the store of images still has it. */
  async #pull({ id, spec }: PoolRecord, reference: string, signal: AbortSignal): Promise<Pin> {
    const { images, edits, records, pullPolicy } = this.#options;
    const pin = records.get(id)?.image;
    const image = await images.pull({
      ...{ reference, policy: spec.pullPolicy ?? pullPolicy, signal },
      ...(spec.pullCredentials === undefined ? {} : { credentials: spec.pullCredentials }),
      ...(pin ? { pin } : {}),
    });
    if (pin?.manifest === image.manifest) return image;
    this.#fresh.set(id, image);
    try {
      await edits.changePools((draft) => {
        const stored = draft.pools.get(id);
        if (stored !== undefined) draft.pools.set(id, { ...stored, image });
      });
    } finally {
      this.#fresh.delete(id);
    }
    return image;
  }

  /** If it cannot be stored now, the next failure tries again. */
  #tellFailure(id: string, failure: PoolFailure | undefined): void {
    const { edits, log } = this.#options;
    log(failure === undefined ? "info" : "error", failure === undefined ? "pool-recovered" : "pool-failing", {
      pool: id,
      ...(failure === undefined ? {} : { code: failure.code, message: failure.message }),
    });
    const told = edits.changePools((draft) => {
      const stored = draft.pools.get(id);
      if (stored === undefined) return;
      const { failing: _, ...sound } = stored;
      draft.pools.set(
        id,
        failure === undefined ? sound : { ...sound, failing: { code: failure.code, message: failure.message, sinceMs: failure.lastMs } },
      );
      tellOfPool(draft, stored, failure === undefined ? "recovered" : "failing", failure === undefined ? {} : { message: failure.message });
    });
    told.catch((error) => log("error", "pool-not-recorded", { pool: id, message: String(error) }));
  }

  async #forget(id: string): Promise<void> {
    await this.#options.edits.changePools((draft) => {
      const stored = draft.pools.get(id);
      if (stored === undefined) return;
      draft.pools.set(id, undefined);
      tellOfPool(draft, stored, "removed");
    });
    this.#kept.delete(id);
  }

  /** Of a pool without containers. */
  async #clean(id: string): Promise<void> {
    const { paths } = this.#options;
    await this.#roots.release(id);
    if (existsSync(paths.pool(id))) removeOwnTree(paths.pool(id));
  }

  async #discard(id: string): Promise<void> {
    const { paths, binary, log } = this.#options;
    if (existsSync(paths.pool(id))) await Pool.discard({ stateDir: paths.pool(id), binary });
    await this.#clean(id);
    log("info", "pool-removed", { pool: id });
  }
}
