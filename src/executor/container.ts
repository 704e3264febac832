/** The container behind an executor, seen from outside: its exit record, its monitor, and what may be left of it. */
import { setTimeout as sleep } from "node:timers/promises";
import type { ExitRecord } from "../shared/protocol/index.ts";
import type { Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import { finalState, runningState } from "./outcome.ts";
import { isAlive } from "./process/procfs.ts";
import { abandon, monitorLives, readRecord, watchRecord } from "./record.ts";
import type { Runtime } from "./runtime/client.ts";
import type { ProcessState } from "./types.ts";

/** What SIGKILL, and a launch that nobody waits for any more, may take. */
export const KILL_BOUND_MS = 10_000;
const PAUSE_MS = 20;

/** exited: nothing of it is left. stuck: something is, and could not be removed this time. */
export type Look = { readonly now: "running" | "draining" | "stuck" } | { readonly now: "exited"; readonly state: ProcessState };

export class Container {
  constructor(
    readonly directory: Directory,
    readonly runtime: Runtime,
  ) {}

  /** What the record says now. */
  async look(): Promise<Look> {
    let record = readRecord(this.directory.record);
    const lives = record !== undefined && monitorLives(record);
    // A monitor that is gone by now may have written its last word since.
    if (!lives) record = readRecord(this.directory.record);
    if (record?.phase === "exited") return { now: "exited", state: finalState(record) };
    if (lives) return { now: record?.phase === "ended" ? "draining" : "running" };
    if (record?.phase === "running" && isAlive({ pid: record.pid!, startTicks: record.startTicks! })) return { now: "running" };
    // Nobody else removes what is left.
    try {
      await this.#delete();
    } catch {
      return { now: "stuck" };
    }
    return { now: "exited", state: finalState(record) };
  }

  /**
   * What somebody has launched, as soon as it is known; undefined: the launch never came to an end, and what it left has been removed.
   * @throws ExecutorError id-unknown, protocol, stuck
   */
  async find(): Promise<ProcessState | undefined> {
    const watch = watchRecord(this.directory.record);
    watch.ref();
    try {
      for (;;) {
        // Whoever launches may have failed, and removed it.
        const { supervisor } = this.directory.description();
        const found = readRecord(this.directory.record);
        if (found?.pid !== undefined) return runningState(found);
        const isBegun = found !== undefined && found.phase !== "abandoned";
        // It may have written a last word before it died.
        if (!isAlive(isBegun ? found.monitor : supervisor) && readRecord(this.directory.record)?.pid === undefined) {
          await this.undo();
          return undefined;
        }
        await watch.changed();
      }
    } finally {
      watch.close();
    }
  }

  /** After a failed launch, or one whose supervisor died: whatever there is goes. @throws ExecutorError stuck */
  async undo(): Promise<void> {
    const isBegun = this.directory.exists() && !abandon(this.directory.record, this.directory.id);
    if (isBegun) await within(() => !this.#monitored(["creating"]));
    const deadline = performance.now() + KILL_BOUND_MS;
    for (;;) {
      try {
        await this.#delete();
        break;
      } catch (error) {
        if (performance.now() > deadline) throw new ExecutorError("stuck", `${this.directory.id}: a launch could not be undone`, {}, error);
        await sleep(PAUSE_MS);
      }
    }
    // The monitor's last word belongs into the directory.
    if (isBegun) await within(() => !this.#monitored(["running", "ended", "exited"]));
    this.directory.remove();
  }

  /** Whether a monitor lives whose record is in one of these phases. */
  #monitored(phases: readonly ExitRecord["phase"][]): boolean {
    const found = readRecord(this.directory.record);
    return found !== undefined && phases.includes(found.phase) && monitorLives(found);
  }

  async #delete(): Promise<void> {
    await this.runtime.delete(this.directory.id, { force: true });
  }
}

async function within(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + KILL_BOUND_MS;
  while (!condition() && performance.now() < deadline) await sleep(PAUSE_MS);
}
