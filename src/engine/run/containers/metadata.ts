/** Writes the files that tell containers about themselves. Each incarnation gets its file before it is created, and an update after it was started. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { retryDelayMs, type TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory, replaceOwnFile } from "../../own/index.ts";
import { type Incarnation, metadataOf, wantsMetadata } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";

const FILE = "metadata.json";

export class MetadataFiles {
  readonly #paths: Paths;
  readonly #log: EngineLog;
  /** Timers for the next try, by directory. */
  readonly #tries = new Map<string, NodeJS.Timeout>();

  constructor(paths: Paths, log: EngineLog) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Writes the file before the container is created. An error is only logged: the container runs without the file, and the write is tried again after its start. */
  begin(record: TaskRecord, one: Incarnation): void {
    if (!wantsMetadata(record, one.container)) return;
    const directory = this.#paths.metadata(record.id, one.runtimeId);
    try {
      makeReadable(directory);
      write(directory, metadataOf(record, one, undefined));
    } catch (error) {
      this.#failed(record, one, error);
    }
  }

  /** The directory to mount into the container; undefined: the container asks for none. */
  directory(record: TaskRecord, one: Incarnation): string | undefined {
    const directory = this.#paths.metadata(record.id, one.runtimeId);
    return wantsMetadata(record, one.container) && existsSync(directory) ? directory : undefined;
  }

  /** Updates the file after the start, and tries again until that succeeds. @param startedMs milliseconds since the epoch */
  ready(record: TaskRecord, one: Incarnation, startedMs: number, failures = 0): void {
    const directory = this.directory(record, one);
    if (directory === undefined) return;
    try {
      write(directory, metadataOf(record, one, startedMs));
      this.#tries.delete(directory);
    } catch (error) {
      if (failures === 0) this.#failed(record, one, error);
      const again = () => this.ready(record, one, startedMs, failures + 1);
      this.#tries.set(directory, setTimeout(again, retryDelayMs(failures + 1)).unref());
    }
  }

  /** Cancels all further tries. */
  stop(): void {
    for (const timer of this.#tries.values()) clearTimeout(timer);
    this.#tries.clear();
  }

  #failed({ id }: TaskRecord, { container }: Incarnation, error: unknown): void {
    this.#log("error", "metadata-not-written", { task: id, container, message: String(error) });
  }
}

/**
 * Readable for every user in the container, whatever the umask of this process. Other users
 * of the host cannot reach it, because the parent directories are closed to them.
 */
function makeReadable(directory: string): void {
  makeOwnDirectory(directory, { mode: 0o755 });
}

/** Replaces the file atomically, so that a reader never sees a part of it. */
function write(directory: string, metadata: object): void {
  replaceOwnFile(join(directory, FILE), `${JSON.stringify(metadata, null, 2)}\n`, { mode: 0o644 });
}
