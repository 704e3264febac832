/** What the log pump of a container says of itself, beside the exit record. */
import type { LogCounts } from "../shared/protocol/index.ts";
import { readOwnFile } from "./own-file.ts";

/** What went into the log and what did not, about a second old while the container runs. */
export interface LogUse {
  readonly lines: number;
  readonly bytes: number;
  readonly droppedLines: number;
  readonly droppedBytes: number;
}

/** undefined: there is no log, or no counts yet. The file is overwritten in place, so a read may see half of a write: then the next read shows more. */
export function readLogCounts(record: string): LogCounts | undefined {
  try {
    return JSON.parse(readOwnFile(`${record}.log`).toString());
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Without what the pump keeps for itself. */
export function useOf(counts: LogCounts | undefined): LogUse | undefined {
  if (counts === undefined) return undefined;
  const { lines, bytes, droppedLines, droppedBytes } = counts;
  return { lines, bytes, droppedLines, droppedBytes };
}
