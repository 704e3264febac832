/** Measures scratch volumes on disk that have a size limit, at intervals. A task that exceeds a limit is stopped. */
import { reason, type TaskRecord } from "../model/index.ts";
import { sizeOnDisk } from "../volumes/index.ts";
import { Repeating } from "./clock.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import type { Paths } from "./paths.ts";

/** The kubelet uses the same interval. Source: Kubernetes, "Node-pressure Eviction", housekeeping-interval. */
const INTERVAL_MS = 10_000;

export interface VolumeWatchOptions {
  readonly paths: Paths;
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

  async #measure({ id, spec, desired, resources }: TaskRecord): Promise<void> {
    if (desired !== "RUNNING") return;
    for (const { name, size, medium } of spec.volumes) {
      const isThere = resources.some((one) => one.name === `volume:${name}` && one.known === "CREATED");
      if (size === undefined || medium !== undefined || !isThere) continue;
      const { paths, mailbox, log } = this.#options;
      try {
        const bytes = await sizeOnDisk(paths.volume(id, name));
        if (bytes <= size) continue;
        const text = `the volume ${name} has ${bytes} bytes in it, and may have ${size}`;
        log("info", "evicted", { task: id, volume: name, bytes, size });
        mailbox.post(id, { type: "stop", reason: reason("Evicted", text) });
        return;
      } catch (error) {
        log("error", "not-measured", { task: id, volume: name, message: String(error) });
      }
    }
  }
}
