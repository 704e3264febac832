/** The executors of a state directory: what is on disk, and all of them adopted. One that is broken hides none of the others. */
import { existsSync, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { ExitRecord } from "../shared/protocol/index.ts";
import { Directory } from "./directory.ts";
import { ExecutorError } from "./errors.ts";
import { isId } from "./launch/check.ts";
import { freezerFile, isFrozen } from "./process/cgroups.ts";
import { isAlive } from "./process/procfs.ts";
import { finalState, initOf, monitorLives, runningState } from "./record.ts";
import type { ExecutorState, ProcessState } from "./types.ts";

/** An executor as it is on disk. Reading changes nothing. */
export type ExecutorEntry =
  | {
      readonly id: string;
      /** launching, created (it waits for start), running, paused, draining (the program has ended, something of it may be left: adopt removes it), exited, or failed: its launch never came to an end. */
      readonly state: Extract<ExecutorState, "launching" | "created" | "running" | "paused" | "draining" | "exited" | "failed">;
      /** null before the program runs. */
      readonly process: ProcessState | null;
      /** Of one that runs or waits for start: why the runtime cannot act on it (Executor.lost). */
      readonly lost?: string;
      readonly error?: undefined;
    }
  /** It cannot be understood; `error.code` is state-unreadable, state-moved, or protocol. */
  | { readonly id: string; readonly state: "unknown"; readonly process: null; readonly lost?: undefined; readonly error: ExecutorError };

/** One of adoptAll: an executor, or why there is none. */
export type Adoption<T> =
  | { readonly id: string; readonly executor: T; readonly error?: undefined }
  | { readonly id: string; readonly executor?: undefined; readonly error: Error };

/** @throws ExecutorError invalid-argument; what readdirSync throws, but for a directory that is not there */
export function idsIn(stateDir: string): string[] {
  if (!isAbsolute(stateDir)) throw new ExecutorError("invalid-argument", `stateDir ${stateDir} is not absolute`, { field: "stateDir" });
  try {
    return readdirSync(stateDir, { withFileTypes: true })
      .filter((entry) => isId(entry.name) && (entry.isDirectory() || (entry.isSymbolicLink() && existsSync(join(stateDir, entry.name)))))
      .map(({ name }) => name)
      .sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

/** By id, ascending. One that goes away meanwhile is left out. */
export function listExecutors(stateDir: string): ExecutorEntry[] {
  return idsIn(stateDir).flatMap((id): ExecutorEntry[] => {
    const directory = new Directory(stateDir, id);
    try {
      return [look(directory)];
    } catch (error) {
      if (!directory.exists()) return [];
      return [{ id, state: "unknown", process: null, error: error instanceof ExecutorError ? error : unreadable(directory, error) }];
    }
  });
}

function look(directory: Directory): ExecutorEntry {
  const { id } = directory;
  const { supervisor, bootId } = directory.description();
  const record = directory.exitRecord();
  if (record?.pid === undefined) {
    const isBegun = record !== undefined && record.phase !== "abandoned";
    const lives = record?.phase !== "abandoned" && (isBegun ? monitorLives(record) : isAlive({ ...supervisor, bootId }));
    return { id, state: lives ? "launching" : "failed", process: null };
  }
  const state = stateOf(directory, record);
  const lost = state === "running" || state === "paused" || state === "created" ? directory.runtimeLoss() : undefined;
  const process = record.phase === "exited" ? finalState(record) : runningState(record);
  return { id, state, process, ...(lost === undefined ? {} : { lost }) };
}

function stateOf(directory: Directory, record: ExitRecord): "created" | "running" | "paused" | "draining" | "exited" {
  if (record.phase === "exited") return "exited";
  const init = initOf(record);
  if (record.phase === "ended" || !(isAlive(init) || monitorLives(record))) return "draining";
  if (directory.awaitsStart(record)) return "created";
  const file = freezerFile(init.pid);
  return file !== undefined && isFrozen(file) && isAlive(init) ? "paused" : "running";
}

function unreadable({ path }: Directory, error: unknown): ExecutorError {
  return new ExecutorError("state-unreadable", `${path}: ${error instanceof Error ? error.message : error}`, { path }, error);
}

/** So many at once: each may start a process of `runt`. */
const AT_ONCE = 8;

/** By id, ascending. */
export async function adoptAll<T>(stateDir: string, adopt: (id: string) => Promise<T>): Promise<Adoption<T>[]> {
  const ids = idsIn(stateDir);
  const adoptions: Adoption<T>[] = [];
  const entries = ids.entries();
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const [index, id] of entries) {
        adoptions[index] = await adopt(id).then(
          (executor) => ({ id, executor }),
          (error: unknown) => ({ id, error: error instanceof Error ? error : new Error(String(error)) }),
        );
      }
    }),
  );
  return adoptions;
}
