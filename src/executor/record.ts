/** The exit record that `runt create` and `runt run --detach` write with --exit-record: reading it, and keeping it from being begun. */
import { linkSync, unlinkSync } from "node:fs";
import { writeOwnFile } from "../node/index.ts";
import { EXIT_PHASE, EXIT_RECORD_SCHEMA, type ExitRecord, type ProcessId } from "../shared/protocol/index.ts";
import { ExecutorError } from "./errors.ts";
import { thisBoot } from "./process/boot.ts";
import { isAlive, type ProcessIdentity } from "./process/procfs.ts";
import { readStateFile } from "./state-file.ts";

const PHASES: ReadonlySet<unknown> = new Set(Object.values(EXIT_PHASE));

/**
 * undefined: there is none. It is replaced by rename, so it is always whole. @param id of the executor, which the record must name
 * @throws ExecutorError state-unreadable: somebody has damaged it, or it is another executor's
 */
export function readRecord(path: string, id: string): ExitRecord | undefined {
  const text = readStateFile(path);
  return text === undefined ? undefined : parseState<ExitRecord>(path, text, (record) => isSound(record, id));
}

function isSound({ id, phase, monitor, pid, startTicks }: Partial<ExitRecord>, wanted: string): boolean {
  if (id !== wanted || !PHASES.has(phase) || !isProcess(monitor)) return false;
  return pid === undefined || isProcess({ pid, startTicks });
}

/** A number that is not positive names no process, but a group of processes or all of them (kill(2)). */
export function isProcess(value: unknown): value is ProcessId {
  const { pid, startTicks } = (typeof value === "object" && value !== null ? value : {}) as Partial<ProcessId>;
  return Number.isSafeInteger(pid) && pid! >= 0 && typeof startTicks === "string" && /^\d+$/.test(startTicks);
}

/** @throws ExecutorError state-unreadable, when it is no JSON object or not `sound` */
export function parseState<T extends object>(path: string, text: string, sound: (value: Partial<T>) => unknown): T {
  let value: T | null;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new ExecutorError("state-unreadable", `${path}: ${(error as Error).message}`, { path }, error);
  }
  if (typeof value !== "object" || value === null || !sound(value)) {
    throw new ExecutorError("state-unreadable", `${path}: what it has to say is missing`, { path });
  }
  return value;
}

/** Keep a `runt create` or `runt run` that has not begun from beginning. False: it has begun. */
export function abandon(path: string, id: string): boolean {
  const temporary = `${path}.abandoned.${process.pid}`;
  const record: ExitRecord = {
    schema: EXIT_RECORD_SCHEMA,
    id,
    root: "",
    bootId: thisBoot(),
    monitor: { pid: 0, startTicks: "0" },
    phase: EXIT_PHASE.abandoned,
  };
  writeOwnFile(temporary, JSON.stringify(record));
  try {
    linkSync(temporary, path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  } finally {
    unlinkSync(temporary);
  }
}

export function monitorLives({ monitor, bootId }: ExitRecord): boolean {
  return isAlive({ ...monitor, bootId });
}

/** init, as the record of a container that was made has it. */
export function initOf({ pid = 0, startTicks = "0", bootId }: ExitRecord): ProcessIdentity {
  return { pid, startTicks, bootId };
}
