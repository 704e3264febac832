/**
 * The processes that one program starts for its executors, in one cgroup. The next program can end all of them, and knows when none is left: nothing that was
 * begun before acts any more. Monitors and log pumps leave the cgroup.
 */
import { chmodSync, mkdirSync, readdirSync, rmdirSync, statSync, writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isLook } from "../../node/index.ts";
import { Directory } from "../directory.ts";
import { ExecutorError } from "../errors.ts";
import { idsIn } from "../list.ts";
import { directoryOfProcess, groupingHierarchy, processesIn } from "../process/cgroups.ts";
import { freeze, thaw } from "../process/end-cgroup.ts";
import { isAlive, type ProcessIdentity, processStat, unlessShortage } from "../process/procfs.ts";
import { readLogCounts, readRecord } from "../record.ts";

export interface FenceOptions {
  /** Path of a cgroup below which the fence makes its own: "effects/KEY.NAME" and "monitors". */
  readonly cgroupParent: string;
  /** The same for programs that follow one another. Fences with another key belong to programs that run at the same time, and are left alone. */
  readonly key: string;
  /** Of the executors. */
  readonly stateDir: string;
  /** State directories of further executors. */
  readonly others?: () => readonly string[];
}

/** SIGKILL takes this long at most, but for processes that the kernel does not let go. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 10;
/** A level that was made for fences has the sticky bit, which means nothing to a cgroup. A level without it was made by somebody else, and stays. */
const STICKY = 0o1000;

export class Fence {
  readonly #stateDir: string;
  readonly #others: () => readonly string[];
  readonly #key: string;
  readonly #controller: string;
  readonly #base: string;
  readonly #effects: string;
  readonly #monitors: string;
  /** Executors whose monitors are to be let out. */
  readonly #unreleased = new Set<string>();
  #releasing: Promise<void> = Promise.resolve();
  #own: { readonly directory: string; readonly before: string | undefined } | undefined;

  /** Nothing is done yet. @throws ExecutorError invalid-argument: the host has no cgroups that this process can use */
  constructor({ cgroupParent, key, stateDir, others = () => [] }: FenceOptions) {
    const found = groupingHierarchy();
    if (found === undefined) throw new ExecutorError("invalid-argument", "no hierarchy of cgroups is mounted");
    this.#base = join(found.mountpoint, cgroupParent);
    this.#stateDir = stateDir;
    this.#others = others;
    this.#key = key;
    this.#controller = found.controller;
    this.#effects = join(this.#base, "effects");
    this.#monitors = join(this.#base, "monitors");
  }

  /**
   * End everything that was started inside of earlier fences of this place, and wait until it is gone; monitors and pumps are let out.
   * Returns how many processes it has ended. @throws ExecutorError stuck; what mkdirSync throws
   */
  async clear(): Promise<number> {
    let ended = 0;
    for (const name of this.#names()) ended += await this.#clear(join(this.#effects, name));
    return ended;
  }

  /** This process, and what it starts from now on. `name` is not that of a fence that is there. @throws what mkdirSync and writeFileSync throw */
  enter(name: string): void {
    const directory = join(this.#effects, `${this.#key}.${name}`);
    const before = directoryOfProcess(process.pid, this.#controller);
    makeLevels(this.#base);
    mkdirSync(directory, { recursive: true });
    mkdirSync(this.#monitors, { recursive: true });
    writeFileSync(join(directory, "cgroup.procs"), String(process.pid));
    this.#own = { directory, before };
  }

  /**
   * Let the monitor of an executor out, and its pump: they go on without this process. The kernel takes 10 ms and more to move a process, but not for each of
   * several that follow one another closely. Nobody has to wait for it: the next fence lets out whom this one has not.
   */
  release(id: string): Promise<void> {
    this.#unreleased.add(id);
    const done = this.#releasing.then(() => this.#release(id)).finally(() => this.#unreleased.delete(id));
    this.#releasing = done.catch(() => {});
    return done;
  }

  /** This process is outside again. What it has begun stays inside; where nothing is left, the cgroups that were made for it go. */
  leave(): void {
    if (this.#own?.before === undefined) return;
    const { directory, before } = this.#own;
    try {
      const keepers = [...this.#unreleased].flatMap((id) => this.#keepersInside(id));
      this.#own = undefined;
      for (const pid of keepers) this.#moveOutNow(pid);
      writeFileSync(join(before, "cgroup.procs"), String(process.pid));
      for (const made of [directory, this.#effects, this.#monitors]) rmdirSync(made);
      for (let level = this.#base; (statSync(level).mode & STICKY) !== 0; level = dirname(level)) rmdirSync(level);
    } catch {
      // Its old place is gone, or a process is left: the next fence clears this one. Or others are there.
    }
  }

  async #release(id: string): Promise<void> {
    // A pump may have been started between the look and the move of its monitor.
    for (let pass = 0; pass < 2; pass++) for (const pid of this.#keepersInside(id)) await this.#moveOut(pid);
  }

  /** A pump that has not written its pid yet is a child of its monitor. */
  #keepersInside(id: string): number[] {
    if (this.#own === undefined) return [];
    const keepers = new Set(keepersOf(this.#stateDir, id).map(({ pid }) => pid));
    return processesIn([this.#own.directory]).filter((pid) => keepers.has(pid) || keepers.has(processStat(pid)?.parent ?? 0));
  }

  #names(): string[] {
    try {
      return readdirSync(this.#effects, { withFileTypes: true }).flatMap(({ name }) => (name.startsWith(`${this.#key}.`) ? [name] : []));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
      return [];
    }
  }

  async #clear(directory: string): Promise<number> {
    const ended = new Set<number>();
    // Setting the clock of the wall does not make it longer or shorter.
    const deadline = performance.now() + PATIENCE_MS;
    for (;;) {
      for (const pid of await this.#killOnce(directory)) ended.add(pid);
      if (processesIn([directory]).length === 0 && isRemoved(directory)) return ended.size;
      if (performance.now() > deadline) {
        throw new ExecutorError("stuck", `processes of an earlier program do not end: ${processesIn([directory]).join(", ")}`, {
          directory,
        });
      }
      await sleep(LOOK_MS);
    }
  }

  /** Between the freeze and the thaw no process ends or is started, so that a pid is what it was when it was looked at. */
  async #killOnce(directory: string): Promise<number[]> {
    try {
      await freeze(directory);
      const keepers = new Set([this.#stateDir, ...this.#others()].flatMap(allKeepers).map(({ pid }) => pid));
      const victims: number[] = [];
      for (const pid of processesIn([directory])) {
        if (keepers.has(pid) || keepers.has(processStat(pid)?.parent ?? 0)) await this.#moveOut(pid);
        else victims.push(pid);
      }
      for (const pid of victims) {
        kill(pid);
        // Nothing acts any more although it may be there for as long as a server does not answer: the next program does not wait for it.
        if (isLook(pid)) await this.#moveOut(pid);
      }
      return victims;
    } finally {
      thaw(directory);
    }
  }

  async #moveOut(pid: number): Promise<void> {
    mkdirSync(this.#monitors, { recursive: true });
    await writeFile(join(this.#monitors, "cgroup.procs"), String(pid)).catch(unlessEnded);
  }

  #moveOutNow(pid: number): void {
    mkdirSync(this.#monitors, { recursive: true });
    try {
      writeFileSync(join(this.#monitors, "cgroup.procs"), String(pid));
    } catch (error) {
      unlessEnded(error);
    }
  }
}

function unlessEnded(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
}

function makeLevels(path: string): void {
  const first = mkdirSync(path, { recursive: true });
  if (first === undefined) return;
  for (let level = path; level.length >= first.length; level = dirname(level)) chmodSync(level, STICKY | 0o755);
}

function isRemoved(directory: string): boolean {
  try {
    rmdirSync(directory);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

/** Processes that outlive the launcher of a container: its monitor, and the log pump that the monitor has started. */

/** Of one executor. What cannot be read has none: a monitor that has not told its container's pid yet is part of the launch. */
function keepersOf(stateDir: string, id: string): ProcessIdentity[] {
  const { record: path } = new Directory(stateDir, id);
  const record = orUndefined(() => readRecord(path, id));
  if (record?.pid === undefined) return [];
  const pump = orUndefined(() => readLogCounts(path));
  const { bootId } = record;
  return [{ ...record.monitor, bootId }, ...(pump === undefined ? [] : [{ pid: pump.pid, startTicks: pump.startTicks, bootId }])].filter(
    isAlive,
  );
}

function allKeepers(stateDir: string): ProcessIdentity[] {
  return idsIn(stateDir).flatMap((id) => keepersOf(stateDir, id));
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    // A monitor that is not recognised would be killed.
    return unlessShortage(error);
  }
}
