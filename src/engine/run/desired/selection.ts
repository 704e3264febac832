/** Requests about several tasks, and their answers. */
import type { TaskRecord } from "../../model/index.ts";
import type { Origin } from "./origin.ts";

/** Tasks of a group that a request is about. */
export type Selection =
  | "all"
  | {
      readonly names: readonly string[];
      /** Names that no task has are told in the answer; otherwise the first of them is an error. */
      readonly mayBeMissing?: boolean;
      /** Names of pools of the file, which are deleted with its tasks. */
      readonly pools?: readonly string[];
      /** Kept volumes of the tasks of these names, also of those that no task has. */
      readonly volumes?: readonly string[];
      /** The file or project that names them: those that another one has made are an error. */
      readonly origin?: Origin;
    };

/** The tasks of a request about several. */
export interface Selected {
  readonly tasks: readonly Pick<TaskRecord, "id" | "name">[];
  /** Names of which there was only a success that is remembered no longer. */
  readonly forgotten: readonly string[];
  /** Names that no task has. */
  readonly missing: readonly string[];
  /** Names of the other tasks of the group. */
  readonly others: readonly string[];
}

/** The tasks of a request to restart several. */
export interface Restarted extends Selected {
  /** Names of tasks that have stopped or are being stopped: they stay as they are. */
  readonly stopped: readonly string[];
}

/** The tasks of a request to delete several. */
export interface Deleted extends Selected {
  /** Names of the pools that are removed. */
  readonly pools: readonly string[];
  /** Names of the kept volumes that go with them; none unless that was asked for. */
  readonly volumes: readonly string[];
}
