/**
 * A hook for tests that reports the progress of an action. before-commit: it is decided but not stored. after-commit: it is stored but not started. after-effect: it
 * is done but not reported. before-result: its result is about to be stored.
 */
import type { ActionType } from "../model/index.ts";

export const STAGES = ["before-commit", "after-commit", "after-effect", "before-result"] as const;

export type Stage = (typeof STAGES)[number];

/** Called at each stage. The engine runs without one outside of tests. */
export type Probe = (stage: Stage, action: ActionType) => void;
