/**
 * Layers are used as soon as they are unpacked: the page cache has all of them, and a daemon that is killed loses nothing of it. The disk gets them meanwhile. Until it has a layer, there is
 * a mark with the id of the boot, which the disk has before the layer gets its name. A layer with the mark of an earlier boot may have lost something: it is unpacked anew.
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnFile, writeAtomicallyLater } from "../../node/index.ts";
import { readOwnFile } from "../own/index.ts";
import type { Places } from "./places.ts";
import { removeLayer } from "./places.ts";
import { runTool } from "./tool.ts";

export interface UnsyncedOptions {
  readonly places: Places;
  readonly bootId: string;
  /** The disk could not be given what it has to have. It is tried again with the next layer, and when a daemon starts. */
  readonly onError: (error: unknown) => void;
}

/** All that anybody has written to the disk. Marks stay, and it is tried again. */
const SYNC_MS = 600_000;

interface Mark {
  /** The layer has its name. */
  isPlaced: boolean;
}

export class Unsynced {
  readonly #options: UnsyncedOptions;
  /** By names of layers. */
  readonly #marks = new Map<string, Mark>();
  #isSyncing = false;

  constructor(options: UnsyncedOptions) {
    this.#options = options;
  }

  /**
   * @param unpack makes the layer, while its mark is written. Returns how to give the layer its name, which is called when the disk has the mark
   * @throws what `unpack` throws, and the errors of the system calls
   */
  async during(name: string, unpack: () => Promise<() => void>): Promise<void> {
    const mark: Mark = { isPlaced: false };
    this.#marks.set(name, mark);
    try {
      const [place] = await allOf(unpack(), this.#write(name));
      place();
    } catch (error) {
      this.#marks.delete(name);
      removeOwnFile(this.#path(name));
      throw error;
    }
    mark.isPlaced = true;
    void this.#sync();
  }

  /** At the start: removes layers of an earlier boot that the disk may not have, and goes on with those of this one. */
  async sweep(): Promise<void> {
    const { places, bootId } = this.#options;
    for (const name of await readdir(places.unsynced)) {
      if (this.#bootOf(name) === bootId) {
        this.#marks.set(name, { isPlaced: true });
        continue;
      }
      await removeLayer(places, name);
      try {
        removeOwnFile(this.#path(name));
      } catch (error) {
        this.#options.onError(error);
      }
    }
    void this.#sync();
  }

  #path(name: string): string {
    return join(this.#options.places.unsynced, name);
  }

  /** undefined: what is there is no mark of this engine's. */
  #bootOf(name: string): string | undefined {
    try {
      return readOwnFile(this.#path(name)).toString();
    } catch (error) {
      if ((error as { readonly code?: string }).code === "state-unreadable") return undefined;
      throw error;
    }
  }

  async #write(name: string): Promise<void> {
    const { places, bootId } = this.#options;
    removeOwnFile(this.#path(name));
    const making = join(places.staging, `mark-${name}`);
    await writeAtomicallyLater(this.#path(name), bootId, { durability: "file-and-directory", making });
  }

  /** One sync is for all layers that have their names when it begins. */
  async #sync(): Promise<void> {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    try {
      for (;;) {
        const due = [...this.#marks].filter(([, { isPlaced }]) => isPlaced);
        if (due.length === 0) return;
        await runTool("sync", ["--file-system", this.#options.places.layers], { timeoutMs: SYNC_MS });
        // A layer may have been removed and unpacked anew since then.
        for (const [name] of due.filter(([name, mark]) => this.#marks.get(name) === mark)) {
          removeOwnFile(this.#path(name));
          this.#marks.delete(name);
        }
      }
    } catch (error) {
      this.#options.onError(error);
    } finally {
      this.#isSyncing = false;
    }
  }
}

/** Also of a flight that has failed both have ended when this returns. */
async function allOf<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const results = await Promise.allSettled([one, other]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return Promise.all([one, other]);
}
