/** Removes unused images and layers. The store is locked while it chooses them and renames their files. The files are deleted afterwards. */
import { statfsSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { type Collected, type CollectOptions, type CollectPolicy, collect, collectBlobs, type Round } from "./collect.ts";
import type { ImageId } from "./load.ts";
import { Trash } from "./trash.ts";
import { CALLER_WAITS_MS, type Lock } from "./waiting.ts";

export interface CleanerOptions extends Pick<CollectOptions, "places" | "layout" | "onDamaged" | "lastUsedMs"> {
  readonly lock: Lock;
  readonly used: () => readonly ImageId[];
  readonly remembered: () => readonly ImageId[];
}

export class Cleaner {
  readonly #options: CleanerOptions;
  readonly #trash: Trash;

  constructor(options: CleanerOptions) {
    this.#options = options;
    this.#trash = new Trash(options.places);
  }

  get used(): readonly ImageId[] {
    return this.#options.used();
  }

  get remembered(): readonly ImageId[] {
    return this.#options.remembered();
  }

  /** Waits until no image is being pulled or unpacked. @param isPatient for as long as it takes: no caller waits. @throws ImageError store-busy */
  async collect(policy: CollectPolicy, isPatient: boolean): Promise<Collected> {
    let [round, withinMs]: [Round | undefined, number | undefined] = [undefined, isPatient ? undefined : CALLER_WAITS_MS];
    do {
      const before: Round | undefined = round;
      round = await this.#options.lock.write(() => this.#alone((options) => collect(policy, options, before)), withinMs);
      // Containers start meanwhile.
      await this.#trash.empty();
      // Something was removed: the caller is not told that the store is busy.
      withinMs = undefined;
    } while (!round.isDone);
    return { removed: round.removed, freedBytes: round.freedBytes };
  }

  /** Removes the blobs of failed pulls, which no image needs, when the store is not in use. */
  async collectBlobs(): Promise<void> {
    await this.#options.lock.sweep(() => this.#alone(collectBlobs));
    await this.#trash.empty();
  }

  /** Runs the action one turn of the event loop later. By then a caller that has just received an image has registered its use. */
  async #alone<T>(action: (options: CollectOptions) => Promise<T>): Promise<T> {
    await setImmediate();
    const { places, layout, onDamaged, lastUsedMs } = this.#options;
    return action({
      ...{ places, layout, onDamaged, lastUsedMs, trash: this.#trash, used: this.used, remembered: this.remembered },
      fullness: () => {
        const { blocks, bavail, bfree } = statfsSync(places.layout);
        // Like df(1): blocks that are reserved for root do not count.
        return (100 * (blocks - bfree)) / (blocks - bfree + bavail);
      },
    });
  }
}
