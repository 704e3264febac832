/** The container behind an executor, seen from outside: its exit record, its monitor, and what may be left of it. */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { ExitRecord } from "../shared/protocol/index.ts";
import type { Directory } from "./directory.ts";
import { ExecutorError, LOST_STATE, launchError, RuntimeError } from "./errors.ts";
import { deadlinePath } from "./launch/stdio.ts";
import type { OwnCgroup } from "./own-cgroup.ts";
import { type GivenProcess, handOver } from "./pool/claim.ts";
import { KILL_BOUND_MS } from "./process/end-cgroup.ts";
import { isAlive, isOfAnotherBoot, isShortage } from "./process/procfs.ts";
import { abandon, finalState, initOf, monitorLives, readRecord, runningState } from "./record.ts";
import type { Runtime } from "./runtime/client.ts";
import type { CheckedPlan } from "./shutdown.ts";
import type { ProcessState } from "./types.ts";
import { watchRecord } from "./watch-record.ts";

const PAUSE_MS = 20;
/** A state that is missing for so long is lost. */
const LOST_MS = 1_000;

/**
 * exited: nothing of it is left. stuck: something is, and could not be removed this time. unknown: this process could not look, for want of
 * descriptors or memory.
 */
export type Look =
  | { readonly now: "created" | "running" | "draining" | "stuck" | "unknown" }
  | { readonly now: "exited"; readonly state: ProcessState };

export class Container {
  /** `cgroup` undefined: its caller has not said where it is. */
  constructor(
    readonly directory: Directory,
    readonly runtime: Runtime,
    readonly cgroup?: OwnCgroup,
  ) {}

  /** Its first process waits for start. */
  awaitsStart(): boolean {
    return this.directory.awaitsStart(readRecord(this.directory.record, this.directory.id));
  }

  /** `given`: of a template. Returns when it was, in milliseconds since the epoch. @throws ExecutorError wrong-state, launch-failed; ProgramError */
  async start(given?: GivenProcess): Promise<number> {
    const { id, runtimeRoot } = this.directory;
    const startedMs = this.directory.recordStart();
    if (given !== undefined) {
      await handOver({ ...given, id, directory: join(runtimeRoot, id), deadline: deadlinePath(this.directory.path) });
      return startedMs;
    }
    try {
      await this.runtime.start(id);
      return this.directory.exitRecord()?.startedMs ?? startedMs;
    } catch (error) {
      if (error instanceof RuntimeError && (error.code === "wrong-status" || error.code === "id-unknown"))
        throw new ExecutorError("wrong-state", `executor ${this.directory.id}: ${error.message}`, {}, error);
      throw launchError(error);
    }
  }

  /** What the record says now. */
  async look(): Promise<Look> {
    try {
      return await this.#look();
    } catch (error) {
      // Nothing is removed while it may run.
      if (!isShortage(error)) throw error;
      return { now: "unknown" };
    }
  }

  async #look(): Promise<Look> {
    let record = this.directory.exitRecord();
    const lives = record !== undefined && monitorLives(record);
    // A monitor that is gone by now may have written its last word since.
    if (!lives) record = this.directory.exitRecord();
    if (record?.phase === "exited") return { now: "exited", state: finalState(record) };
    if (lives && record?.phase === "ended") return { now: "draining" };
    const isUnwatched = record !== undefined && (record.phase === "created" || record.phase === "running") && isAlive(initOf(record));
    if (lives || isUnwatched) return { now: this.directory.awaitsStart(record) ? "created" : "running" };
    // No other process removes what is left.
    try {
      await this.#delete(record?.bootId);
    } catch {
      return { now: "stuck" };
    }
    await within(() => !this.#pumps(record?.bootId));
    return { now: "exited", state: finalState(record) };
  }

  /**
   * The container that was launched, by this or another process, as soon as it is known; undefined: the launch never came to an end, and what it left was removed.
   * @throws ExecutorError id-unknown, protocol, state-moved, stuck
   */
  async find(): Promise<ProcessState | undefined> {
    const watch = watchRecord(this.directory.record);
    watch.ref();
    try {
      for (;;) {
        // The launching process may have failed and removed it.
        const { supervisor, bootId } = this.directory.description();
        const found = this.directory.exitRecord();
        if (found?.pid !== undefined) return runningState(found);
        const isBegun = found !== undefined && found.phase !== "abandoned";
        // It may have written a last word before it died.
        if (
          !(isBegun ? monitorLives(found) : isAlive({ ...supervisor, bootId })) &&
          readRecord(this.directory.record, this.directory.id)?.pid === undefined
        ) {
          await this.undo(isBegun ? found.bootId : bootId);
          return undefined;
        }
        await watch.changed();
      }
    } finally {
      watch.close();
    }
  }

  /** After a failed launch, or one whose supervisor died: whatever there is goes. @throws ExecutorError stuck */
  async undo(bootId?: string): Promise<void> {
    const isBegun = this.directory.exists() && !abandon(this.directory.record, this.directory.id);
    if (isBegun) await within(() => !this.#monitored(["creating"]));
    const deadline = performance.now() + KILL_BOUND_MS;
    for (;;) {
      try {
        await this.#delete(bootId);
        break;
      } catch (error) {
        if (performance.now() > deadline) throw new ExecutorError("stuck", `${this.directory.id}: a launch could not be undone`, {}, error);
        await sleep(PAUSE_MS);
      }
    }
    // The monitor's last word belongs into the directory.
    if (isBegun) await within(() => !this.#monitored(["created", "running", "ended", "exited"]));
    this.directory.remove();
  }

  /**
   * What it says of itself cannot be read: the runtime removes what it knows of it, and what is in its cgroup gets the signal and after the grace SIGKILL.
   * @throws RuntimeError; ExecutorError stuck
   */
  async discard({ signal, graceMs }: CheckedPlan): Promise<void> {
    if (graceMs > 0 && this.cgroup?.isOccupied()) {
      this.cgroup.signal(signal);
      await within(() => !this.cgroup!.isOccupied(), graceMs);
    }
    await this.#delete(undefined);
    this.directory.remove();
  }

  /** Why the runtime cannot act on a container that runs: its state is lost. undefined: it can, or the container has ended. */
  async lost(): Promise<string | undefined> {
    const deadline = performance.now() + LOST_MS;
    for (;;) {
      const record = this.directory.exitRecord();
      const runs = record !== undefined && (record.phase === "created" || record.phase === "running") && isAlive(initOf(record));
      const why = runs ? this.directory.runtimeLoss() : undefined;
      // The runtime may be about to write or to remove it.
      if (why === undefined || performance.now() > deadline) return why;
      await sleep(PAUSE_MS);
    }
  }

  /** Whether a monitor lives whose record is in one of these phases. */
  #monitored(phases: readonly ExitRecord["phase"][]): boolean {
    const found = readRecord(this.directory.record, this.directory.id);
    return found !== undefined && phases.includes(found.phase) && monitorLives(found);
  }

  /** Whether last lines are on their way into the log: the pump outlives a monitor that was killed. */
  #pumps(bootId: string | undefined): boolean {
    const pump = this.directory.logCounts();
    return pump !== undefined && isAlive({ ...pump, bootId });
  }

  /** `bootId`: of what is left. */
  async #delete(bootId: string | undefined): Promise<void> {
    if (isOfAnotherBoot(bootId)) return this.directory.forgetRuntime();
    try {
      await this.runtime.delete(this.directory.id, { force: true });
    } catch (error) {
      if (this.cgroup === undefined || !(error instanceof RuntimeError)) throw error;
      if (!LOST_STATE.includes(error.code) && this.directory.runtimeLoss() === undefined) throw error;
    }
    if (this.cgroup === undefined) return;
    await this.cgroup.end();
    this.directory.forgetRuntime();
  }
}

async function within(condition: () => boolean, ms = KILL_BOUND_MS): Promise<void> {
  const deadline = performance.now() + ms;
  while (!condition() && performance.now() < deadline) await sleep(PAUSE_MS);
}
