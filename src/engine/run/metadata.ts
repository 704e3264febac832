/** The files that tell containers about themselves: written for each incarnation before it is made, and again when it was started. */
import { chmodSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { retryDelayMs, type TaskRecord } from "../model/index.ts";
import { type Incarnation, metadataOf, wantsMetadata } from "../plan/index.ts";
import type { EngineLog } from "./log.ts";
import type { Paths } from "./paths.ts";

const FILE = "metadata.json";

export class MetadataFiles {
  readonly #paths: Paths;
  readonly #log: EngineLog;
  /** Of each directory, the next try. */
  readonly #tries = new Map<string, NodeJS.Timeout>();

  constructor(paths: Paths, log: EngineLog) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Before it is made. Without the file it runs, too: what goes wrong is logged, and tried again when it was started. */
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

  /** The directory that is mounted; undefined: it has none. */
  directory(record: TaskRecord, one: Incarnation): string | undefined {
    const directory = this.#paths.metadata(record.id, one.runtimeId);
    return wantsMetadata(record, one.container) && existsSync(directory) ? directory : undefined;
  }

  /** It was started: until the file says so it is tried again. @param startedMs milliseconds since the epoch */
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

  /** Nothing is written any more. */
  stop(): void {
    for (const timer of this.#tries.values()) clearTimeout(timer);
    this.#tries.clear();
  }

  #failed({ id }: TaskRecord, { container }: Incarnation, error: unknown): void {
    this.#log("error", "metadata-not-written", { task: id, container, message: String(error) });
  }
}

/** For every user of the container, whatever the umask of this process takes away. Nobody else gets there: the directories above are the engine's own. */
function makeReadable(directory: string): void {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  chmodSync(directory, 0o755);
}

/** Whoever reads sees the old file or the new one, and never a part. */
function write(directory: string, metadata: object): void {
  const next = join(directory, `.${FILE}.next`);
  writeFileSync(next, `${JSON.stringify(metadata, null, 2)}\n`);
  chmodSync(next, 0o644);
  renameSync(next, join(directory, FILE));
}
