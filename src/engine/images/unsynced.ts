/**
 * Lets layers be used before they are synced to the disk. The page cache has them, and a daemon that is killed loses nothing. Until a layer is
 * synced, there is a mark with the boot id. The mark is on the disk before the layer gets its name. A layer with the mark of an earlier boot may be
 * incomplete: it is removed, and unpacked again when it is needed.
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
  /** Called if a sync fails. It is tried again with the next layer, and when a daemon starts. */
  readonly onError: (error: unknown) => void;
}

/** In milliseconds. A sync also writes the data of other programs. If it takes longer, the marks stay and it is tried again. */
const SYNC_MS = 600_000;

interface Mark {
  /** Whether the layer has got its name. */
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
   * @param unpack makes the layer while its mark is written. Returns a function that gives the layer its name, which is called when the mark is on
   * the disk
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

  /** Called at the start: removes layers of an earlier boot that may be incomplete, and syncs those of this boot. */
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

  /** Boot id in a mark; undefined: the file is not a mark of this engine. */
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

  /** Each sync covers all layers that have their names when it begins. */
  async #sync(): Promise<void> {
    if (this.#isSyncing) return;
    this.#isSyncing = true;
    try {
      for (;;) {
        const due = [...this.#marks].filter(([, { isPlaced }]) => isPlaced);
        if (due.length === 0) return;
        await runTool("sync", ["--file-system", this.#options.places.layers], { timeoutMs: SYNC_MS });
        // A layer may have been removed and unpacked again during the sync. Its new mark stays.
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

/** Like Promise.all, but waits until both have ended, even if one fails. */
async function allOf<A, B>(one: Promise<A>, other: Promise<B>): Promise<[A, B]> {
  const results = await Promise.allSettled([one, other]);
  for (const result of results) if (result.status === "rejected") throw result.reason;
  return Promise.all([one, other]);
}
