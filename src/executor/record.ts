/** The exit record of `runt create` and `runt run` with --exit-record: reading it, what it says of the process, and keeping it from being begun. */
import { linkSync, unlinkSync } from "node:fs";
import { writeOwnFile } from "../node/index.ts";
import { SIGNALS } from "../shared/linux/index.ts";
import { EXIT_PHASE, EXIT_RECORD_SCHEMA, type ExitRecord, type LogCounts, type ProcessId } from "../shared/protocol/index.ts";
import { ExecutorError } from "./errors.ts";
import { readOwnFile } from "./own/file.ts";
import { isAlive, isOfAnotherBoot, type ProcessIdentity, thisBoot } from "./process/procfs.ts";
import type { ProcessState, UnknownCause } from "./types.ts";

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

/** Errors that say what is at the path. Others, such as EMFILE, say nothing about the file, which must not count as lost. */
const DAMAGE = ["ENODEV", "ENOTDIR", "ENXIO"];

/** undefined: there is no such file. @throws ExecutorError state-unreadable: what is there is no file of ours; the other errors of open(2) and read(2) */
export function readStateFile(path: string): string | undefined {
  try {
    return readOwnFile(path).toString();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return undefined;
    if (DAMAGE.includes(code)) throw new ExecutorError("state-unreadable", `${path}: ${code}`, { path }, error);
    throw error;
  }
}

/** What went into the log and what did not, about a second old while the container runs. */
export interface LogUse {
  readonly lines: number;
  readonly bytes: number;
  readonly droppedLines: number;
  readonly droppedBytes: number;
}

/**
 * undefined: there is no log, no counts yet, or what is there are none. The file is overwritten in place, so a read may see half of a write: then the next read
 * shows more.
 */
export function readLogCounts(record: string): LogCounts | undefined {
  try {
    const counts: unknown = JSON.parse(readStateFile(`${record}.log`) ?? "null");
    return isProcess(counts) ? (counts as LogCounts) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError || (error instanceof ExecutorError && error.code === "state-unreadable")) return undefined;
    throw error;
  }
}

/** Without what the pump keeps for itself. */
export function useOf(counts: LogCounts | undefined): LogUse | undefined {
  if (counts === undefined) return undefined;
  const { lines, bytes, droppedLines, droppedBytes } = counts;
  return { lines, bytes, droppedLines, droppedBytes };
}

/*
 * The state of the process that the record tells.
 */

const WORDS: Readonly<Record<UnknownCause, string>> = {
  "record-removed": "the exit record was removed",
  "monitor-killed": "the monitor ended before the container",
  "host-rebooted": "the host was booted again before the container had ended",
};

/** While it runs. */
export function runningState(record: ExitRecord): ProcessState {
  return {
    pid: record.pid ?? 0,
    startTicks: record.startTicks ?? "0",
    ...(record.bootId === undefined ? {} : { bootId: record.bootId }),
    exitCode: null,
    signal: null,
    oomKilled: false,
    oomKills: 0,
    unknown: false,
    startedMs: record.startedMs ?? 0,
    endedMs: null,
  };
}

/** The end, when nothing of the container is left. Without an outcome in the record it is unknown, which is never success. */
export function finalState(record: ExitRecord | undefined): ProcessState {
  const begun = runningState(record ?? ({} as ExitRecord));
  const { code = null, signal = null, oomKills = 0, endedMs = null } = record ?? {};
  if (code === null) {
    const unknownCause = causeOf(record);
    return { ...begun, unknown: true, unknownCause, error: WORDS[unknownCause], oomKills, endedMs };
  }
  return { ...begun, exitCode: code, signal, oomKills, oomKilled: oomKills > 0 && signal === SIGNALS.KILL, endedMs };
}

function causeOf(record: ExitRecord | undefined): UnknownCause {
  if (record === undefined) return "record-removed";
  return isOfAnotherBoot(record.bootId) ? "host-rebooted" : "monitor-killed";
}
