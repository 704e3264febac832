/** Actions of the engine on the host. The transaction that decides on an action records it as in flight; the result comes back as an event. */

import type { HealthCheck, Hook } from "../spec/index.ts";
import type { CheckKind } from "./checks.ts";

interface OfContainer {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

export type Action =
  /** Pulls the image of the container. Result: `result` with target PULLED. */
  | ({ readonly type: "pull" } & OfContainer)
  /** Creates the container. Result: `result` with target CREATED. */
  | ({ readonly type: "create" } & OfContainer)
  /** Starts the container. Result: `result` with target RUNNING. */
  | ({ readonly type: "start" } & OfContainer)
  /**
   * Sends `signal`, and SIGKILL to all processes after `timeoutMs`, until the cgroup is
   * empty. Result: `result` with target STOPPED, also if the container does not exist.
   */
  | ({ readonly type: "stop"; readonly signal: string | number; readonly timeoutMs: number } & OfContainer)
  /** Removes the container from the runtime. Result: `removed`, also if the container does not exist. */
  | ({ readonly type: "remove" } & OfContainer)
  /** Runs the preStop hook before the container is stopped. Never repeated. Result: `preStopped`, with or without success. */
  | ({ readonly type: "preStop"; readonly hook: Hook } & OfContainer)
  /** Gives a running container the limits of the current spec. Result: `updated`. May be repeated. */
  | ({ readonly type: "update" } & OfContainer)
  | ({
      readonly type: "checkHealth";
      readonly kind: CheckKind;
      readonly check: HealthCheck & Pick<Hook, "sleep" | "commands">;
    } & OfContainer)
  /** Result of these two: `resource` with target CREATED or REMOVED. Both may be repeated. */
  | { readonly type: "createResource"; readonly name: string }
  | { readonly type: "removeResource"; readonly name: string }
  /** Removes the record, because nothing else of the task is left. */
  | { readonly type: "forget" };

export type ActionType = Action["type"];
