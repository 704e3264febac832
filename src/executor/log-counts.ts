/** What the log pump of a container says of itself, beside the exit record. */
import type { LogCounts } from "../shared/protocol/index.ts";
import { ExecutorError } from "./errors.ts";
import { isProcess } from "./record.ts";
import { readStateFile } from "./state-file.ts";

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
