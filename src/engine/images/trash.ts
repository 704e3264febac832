/**
 * Parts of images that nothing needs any more. They lose their names while the store is locked, which takes a moment, and are removed when it is in
 * use again: a layer has many files, and containers do not wait for them.
 */
import { randomUUID } from "node:crypto";
import { lstatSync, renameSync } from "node:fs";
import { unlink } from "node:fs/promises";
import { join } from "node:path";
import { removeOwnFile } from "../../node/index.ts";
import { removeScratch } from "../volumes/index.ts";
import type { Places } from "./places.ts";

export class Trash {
  readonly #places: Places;
  readonly #left = new Set<string>();
  #emptying: Promise<void> | undefined;

  constructor(places: Places) {
    this.#places = places;
  }

  /** Whether everything is removed, and its space is free. */
  get isEmpty(): boolean {
    return this.#left.size === 0;
  }

  /** @param path of a layer or a blob. Succeeds if it does not exist. @throws the errors of rename(2) and unlink(2) */
  take(path: string): void {
    // A daemon that is killed leaves it, and the next one removes it (clearStaging).
    const trash = join(this.#places.staging, `trash-${randomUUID()}`);
    try {
      renameSync(path, trash);
      this.#left.add(trash);
    } catch (error) {
      const { code = "" } = error as NodeJS.ErrnoException;
      if (code === "ENOENT") return;
      // On a full disk a directory may have no place for one more name. A blob needs none to be removed.
      if (!["ENOSPC", "EDQUOT"].includes(code) || lstatSync(path).isDirectory()) throw error;
      removeOwnFile(path);
    }
  }

  /** Removes everything, also what is added meanwhile. @throws the first error; what could not be removed is tried again when a daemon starts */
  async empty(): Promise<void> {
    while (!this.isEmpty) {
      this.#emptying ??= this.#removeAll().finally(() => {
        this.#emptying = undefined;
      });
      await this.#emptying;
    }
  }

  async #removeAll(): Promise<void> {
    const errors: unknown[] = [];
    for (const path of this.#left) {
      try {
        if (lstatSync(path).isDirectory()) await removeScratch(path);
        else await unlink(path);
      } catch (error) {
        errors.push(error);
      } finally {
        this.#left.delete(path);
      }
    }
    if (errors.length > 0) throw errors[0];
  }
}
