/** Measures what tasks with a limit have on the disk, at intervals: scratch volumes, root file systems, logs. A task that exceeds a limit is stopped. */
import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Images } from "../images/index.ts";
import { type ContainerRecord, reason, specOf, type TaskRecord } from "../model/index.ts";
import { sizeOnDisk } from "../volumes/index.ts";
import { Repeating } from "./clock.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Paths } from "./paths.ts";

/** The kubelet uses the same interval. Source: Kubernetes, "Node-pressure Eviction", housekeeping-interval. */
const INTERVAL_MS = 10_000;

export interface VolumeWatchOptions {
  readonly paths: Paths;
  readonly images: Pick<Images, "writtenBy">;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly mailbox: Mailbox;
  readonly log: EngineLog;
  readonly intervalMs: number | undefined;
}

export class VolumeWatch {
  readonly #options: VolumeWatchOptions;
  readonly #repeating: Repeating;

  constructor(options: VolumeWatchOptions) {
    this.#options = options;
    this.#repeating = new Repeating(options.intervalMs ?? INTERVAL_MS, () => this.#look());
  }

  stop(): void {
    this.#repeating.stop();
  }

  async #look(): Promise<void> {
    for (const record of [...this.#options.records.values()]) await this.#measure(record);
  }

  /** A pod of Kubernetes has the limit of each container, and the sum of them for all that it writes. */
  async #measure(record: TaskRecord): Promise<void> {
    const { id, spec, desired } = record;
    if (desired !== "RUNNING") return;
    const isLimited = spec.storage !== undefined || spec.containers.some(({ storage }) => storage !== undefined);
    let sum = 0;
    for (const { name, size, medium } of spec.volumes) {
      if (medium !== undefined || (size === undefined && !isLimited)) continue;
      const bytes = isThere(record, name) ? await this.#sized(id, name, () => sizeOnDisk(this.#options.paths.volume(id, name))) : 0;
      if (size !== undefined && bytes > size) return this.#evict(id, `the volume ${name}`, { bytes, size });
      sum += bytes;
    }
    if (!isLimited) return;
    for (const container of record.containers) {
      if (container.image === null || container.known !== "RUNNING") continue;
      const { name } = container;
      const bytes = await this.#sized(id, name, () => this.#written(id, container));
      const size = specOf(record, name)?.storage;
      if (size !== undefined && bytes > size) return this.#evict(id, `the container ${name}`, { bytes, size });
      sum += bytes;
    }
    if (spec.storage !== undefined && sum > spec.storage) this.#evict(id, "the task", { bytes: sum, size: spec.storage });
  }

  #evict(task: string, what: string, { bytes, size }: Readonly<Record<"bytes" | "size", number>>): void {
    this.#options.log("info", "evicted", { task, what, bytes, size });
    this.#options.mailbox.post(task, { type: "stop", reason: reason("Evicted", `${what} has ${bytes} bytes in it, and may have ${size}`) });
  }

  /** What cannot be measured now counts nothing, and is measured again. */
  async #sized(task: string, what: string, measure: () => Promise<number>): Promise<number> {
    try {
      return await measure();
    } catch (error) {
      this.#options.log("error", "not-measured", { task, volume: what, message: String(error) });
      return 0;
    }
  }

  async #written(task: string, { runtimeId }: ContainerRecord): Promise<number> {
    const log = this.#options.paths.log(task, runtimeId);
    const files = readdirSync(dirname(log)).filter((name) => name.startsWith(basename(log)));
    const logged = files.map((name) => statSync(join(dirname(log), name), { throwIfNoEntry: false })?.size ?? 0);
    return logged.reduce((sum, bytes) => sum + bytes, await this.#options.images.writtenBy(runtimeId));
  }
}

/** What such a volume holds is not on this host, or not of the task. */
const NOT_SCRATCH = ["host", "kept", "files", "image", "filesystem"] as const;

function isThere({ resources, spec }: TaskRecord, name: string): boolean {
  const isOwn = spec.volumes.some((one) => one.name === name && NOT_SCRATCH.every((field) => one[field] === undefined));
  return isOwn && resources.some((one) => one.name === `volume:${name}` && one.known === "CREATED");
}
