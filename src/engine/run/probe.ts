/**
 * For tests: where the engine is on the way of an action. before-commit: it is decided, and not stored. after-commit: it is stored, and not begun. after-effect: it is
 * done, and nobody knows. before-result: what has come of it is about to be stored.
 */
import type { ActionType } from "../model/index.ts";

export const STAGES = ["before-commit", "after-commit", "after-effect", "before-result"] as const;

export type Stage = (typeof STAGES)[number];

/** Called at each of them; undefined costs nothing. */
export type Probe = (stage: Stage, action: ActionType) => void;
