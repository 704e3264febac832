/** Watched files for the program that watches them: applies and removes them, and tells what it has found. */
import type { TaskRecord } from "../model/index.ts";
import type { HostSupport } from "../plan/index.ts";
import type { Conditions } from "./conditions.ts";
import type { Applied } from "./desired/apply.ts";
import type { Edits } from "./desired/edits.ts";
import type { Caller, WatchEvent } from "./desired/journal.ts";
import { specsIn, type TaskFile } from "./desired/specs.ts";
import { applyWatched, removeWatched, type WatchedSource, watchOrigin } from "./desired/watched.ts";
import type { Watched } from "./desired/watched-record.ts";
import { invalidSpec } from "./errors.ts";

const NO_POOLS = "a file of a watched directory cannot have pools: apply it with runtctl";

export interface WatchedFilesOptions {
  readonly edits: Edits;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly conditions: Conditions;
  readonly support: HostSupport;
}

export class WatchedFiles {
  readonly #options: WatchedFilesOptions;

  constructor(options: WatchedFilesOptions) {
    this.#options = options;
  }

  /** The files that were applied, by path, as the store has them. */
  get all(): Watched {
    return this.#options.edits.facts.watched ?? {};
  }

  /**
   * Applies a file in one transaction, with the removal of the tasks that it no longer has.
   * @throws EngineError invalid-spec, no-room, other-origin, unknown-network, unknown-volume; StoreError not-written
   */
  async apply(file: TaskFile, source: WatchedSource, by: Caller): Promise<readonly Applied[]> {
    const { tasks, pools } = specsIn(file, this.#options.support);
    if (pools.length > 0) throw invalidSpec([{ code: "combination", message: NO_POOLS, pointer: "", document: 0, line: 1, column: 1 }]);
    return this.#options.edits.make(by, (commands) => applyWatched(commands, tasks, source));
  }

  /** Records on which file system a file that was applied is now. @throws StoreError not-written */
  async move(path: string, fileSystem: string): Promise<void> {
    await this.#options.edits.make(undefined, (commands) => {
      const { watched = {} } = commands.facts;
      const file = watched[path];
      if (file !== undefined) commands.facts = { ...commands.facts, watched: { ...watched, [path]: { ...file, fileSystem } } };
    });
  }

  /** Whether a task that was made from the file is left. */
  hasTasks(path: string): boolean {
    const from = watchOrigin(path);
    return [...this.#options.records.values()].some((one) => one.from === from && !one.isDeleteAsked);
  }

  /** Removes the tasks of a file that is gone. @throws StoreError not-written */
  async remove(path: string, by: Caller): Promise<readonly Applied[]> {
    return this.#options.edits.make(by, (commands) => removeWatched(commands, path));
  }

  /** The value of `ApplyOptions.from` for a file, with which `plan` compares. */
  originOf(path: string): string {
    return watchOrigin(path);
  }

  /** Adds an event to the journal. @throws StoreError not-written */
  async tell(event: Omit<WatchEvent, "wallMs">): Promise<void> {
    await this.#options.edits.make(undefined, (commands) => commands.tell(event));
  }

  /** Sets or, with an empty message, clears a condition of the host. */
  condition(type: "WatchFailed" | "Drifted", message: string): void {
    this.#options.conditions.set(type, message);
  }
}
