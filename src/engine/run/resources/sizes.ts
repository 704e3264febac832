/** Sizes of directories for callers that ask at the same time, or again and again. */
import { sizeOnDisk } from "../../volumes/index.ts";
import { Limit } from "../limit.ts";

/** Measurements that run at once. Each is a program that reads a whole tree of files. */
const AT_ONCE = 2;
/** Milliseconds for which a size is given to further callers, and not measured again. */
const KEPT_MS = 5_000;

interface Measurement {
  /** null: it cannot be measured. */
  readonly bytes: Promise<number | null>;
  readonly controller: AbortController;
  /** Callers that wait for it. */
  waiting: number;
  /** On a clock that nobody sets; undefined: it goes on. */
  endedMs: number | undefined;
}

/** Each directory is measured once at a time, for all who ask, and a few directories at once. */
export class Sizes {
  readonly #measure: (path: string, signal: AbortSignal) => Promise<number>;
  readonly #limit = new Limit(AT_ONCE);
  /** By the device and inode of the directory. */
  readonly #measurements = new Map<string, Measurement>();

  constructor(measure: (path: string, signal: AbortSignal) => Promise<number> = sizeOnDisk) {
    this.#measure = measure;
  }

  /**
   * Bytes on the disk; null: it cannot be measured. A measurement ends when the signals of all who wait for it are aborted.
   * @param identity of the directory. @throws the reason of `signal`
   */
  async of(identity: string, path: string, signal?: AbortSignal): Promise<number | null> {
    signal?.throwIfAborted();
    this.#forget();
    const measurement = this.#measurements.get(identity) ?? this.#begin(identity, path);
    measurement.waiting++;
    let leave = () => {};
    const left = new Promise<never>((_, reject) => {
      leave = () => reject(signal?.reason);
      signal?.addEventListener("abort", leave, { once: true });
    });
    try {
      return await Promise.race([measurement.bytes, left]);
    } finally {
      signal?.removeEventListener("abort", leave);
      measurement.waiting--;
      if (measurement.waiting === 0 && measurement.endedMs === undefined) {
        if (this.#measurements.get(identity) === measurement) this.#measurements.delete(identity);
        measurement.controller.abort();
      }
    }
  }

  #begin(identity: string, path: string): Measurement {
    const controller = new AbortController();
    const measure = async () => (controller.signal.aborted ? null : this.#measure(path, controller.signal));
    const bytes = this.#limit
      .run(measure)
      .catch(() => null)
      .finally(() => {
        measurement.endedMs = performance.now();
      });
    const measurement: Measurement = { bytes, controller, waiting: 0, endedMs: undefined };
    this.#measurements.set(identity, measurement);
    return measurement;
  }

  #forget(): void {
    const now = performance.now();
    for (const [identity, { endedMs }] of this.#measurements) {
      if (endedMs !== undefined && now - endedMs >= KEPT_MS) this.#measurements.delete(identity);
    }
  }
}
