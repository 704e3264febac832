/** The inputs of a decision about one task beside its record. */
import type { TaskRecord } from "./record.ts";

export interface EngineOptions {
  /** For containers that say nothing. */
  readonly stopTimeoutMs: number;
  readonly retentionMs: number;
  /** A stopped task whose end nobody acknowledges is removed after this. */
  readonly reportBoundMs: number;
  /** After so many failed tries to stop a container it is an alarm, and holds back no other container any longer. */
  readonly stopTries: number;
  /** Images are got as soon as a task is let in, whatever their containers wait for. */
  readonly pullUpfront: boolean;
}

export const DEFAULT_OPTIONS: EngineOptions = {
  stopTimeoutMs: 30_000,
  retentionMs: 3 * 3_600_000,
  reportBoundMs: 72 * 3_600_000,
  stopTries: 5,
  pullUpfront: false,
};

export interface BundleView {
  readonly options: EngineOptions;
  /** The other tasks of the group: one for each name, the newest. */
  readonly peers: readonly TaskRecord[];
  /** Those that another task of their name has taken the place of. */
  readonly replaced: readonly TaskRecord[];
  /** Names of tasks of the group that have succeeded for good and are no longer there. */
  readonly succeeded: readonly string[];
}

const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

/** The delay after this many failures in a row. */
export function retryDelayMs(failures: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(failures - 1, 20), LONGEST_RETRY_MS);
}
