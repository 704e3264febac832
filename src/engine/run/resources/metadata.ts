/** Writes the files that tell containers about themselves. Each incarnation gets its file before it is launched, and an update after it was started. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { writeAtomically } from "../../../node/index.ts";
import { retryDelayMs, specOf, type TaskRecord } from "../../model/index.ts";
import { makeOwnDirectory } from "../../own/index.ts";
import { type Incarnation, metadataOf, wantsMetadata } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";
import type { Paths } from "../paths.ts";
import { type Contribution, engineMount, makeTaskDirectory, removeTaskDirectory, type TaskResource } from "./resource.ts";

const FILE = "metadata.json";

export class MetadataFiles implements TaskResource {
  readonly name = "metadata";
  readonly #paths: Paths;
  readonly #log: EngineLog;
  /** Timers for the next try, by directory. */
  readonly #tries = new Map<string, NodeJS.Timeout>();

  constructor(paths: Paths, log: EngineLog) {
    this.#paths = paths;
    this.#log = log;
  }

  /** Writes the file, which has the addresses of the network. An error is only logged: the container runs without the file. */
  contribute(record: TaskRecord, one: Incarnation): Contribution {
    if (!wantsMetadata(record, one.container)) return {};
    try {
      const directory = this.#paths.metadata(record.id, one.runtimeId);
      // Every user in the container can read it, whatever the umask of this process. Other users of the host cannot reach it: the parent directories are closed to them.
      makeTaskDirectory(dirname(directory));
      makeOwnDirectory(directory, { mode: 0o755 });
      writeMetadata(directory, metadataOf(record, one, undefined));
    } catch (error) {
      this.#failed(record, one, error);
    }
    const directory = this.#directory(record, one);
    return directory === undefined ? {} : { mounts: [engineMount(specOf(record, one.container)!.metadata!, directory, "rro")] };
  }

  /** undefined: there is none, because the container asks for none, or because it could not be made. */
  #directory(record: TaskRecord, one: Incarnation): string | undefined {
    const directory = this.#paths.metadata(record.id, one.runtimeId);
    return wantsMetadata(record, one.container) && existsSync(directory) ? directory : undefined;
  }

  /** Updates the file, and tries again until that succeeds. */
  started(record: TaskRecord, one: Incarnation, startedMs: number, failures = 0): void {
    const directory = this.#directory(record, one);
    if (directory === undefined) return;
    try {
      writeMetadata(directory, metadataOf(record, one, startedMs));
      this.#tries.delete(directory);
    } catch (error) {
      if (failures === 0) this.#failed(record, one, error);
      const again = () => this.started(record, one, startedMs, failures + 1);
      this.#tries.set(directory, setTimeout(again, retryDelayMs(failures + 1)).unref());
    }
  }

  async forget(task: string): Promise<void> {
    await removeTaskDirectory(this.#paths.metadataOf(task));
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

/** Replaces the file atomically, so that a reader never sees a part of it. */
function writeMetadata(directory: string, metadata: object): void {
  writeAtomically(join(directory, FILE), `${JSON.stringify(metadata, null, 2)}\n`, { durability: "none", mode: 0o644 });
}
