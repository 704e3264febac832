/** The inputs of a decision about one task, besides its record. */
import type { TaskRecord } from "./record.ts";

export interface EngineOptions {
  /** For containers that set no timeout. */
  readonly stopTimeoutMs: number;
  readonly retentionMs: number;
  /** A stopped task whose end was not acknowledged is removed after this time. */
  readonly reportBoundMs: number;
  /** After this many failed attempts to stop a container an alarm is raised, and other containers no longer wait for its end. */
  readonly stopTries: number;
  /** Whether images are pulled as soon as a task is admitted, even if its containers still wait for dependencies. */
  readonly pullUpfront: boolean;
}

export const DEFAULT_OPTIONS: EngineOptions = {
  stopTimeoutMs: 30_000,
  retentionMs: 3 * 3_600_000,
  reportBoundMs: 72 * 3_600_000,
  stopTries: 5,
  pullUpfront: false,
};

export interface DecisionContext {
  readonly options: EngineOptions;
  /** The other tasks of the group. Only the newest of each name. */
  readonly peers: readonly TaskRecord[];
  /** Tasks that were replaced by another task of their name. */
  readonly replaced: readonly TaskRecord[];
  /** Names of one-shots of the group that have succeeded and were removed. */
  readonly succeeded: readonly string[];
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** The delay in milliseconds after this many consecutive failures. */
export function retryDelayMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), LONGEST_RETRY_MS);
}
