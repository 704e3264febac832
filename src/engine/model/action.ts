/** Actions that the engine carries out. The transaction that decides on an action records it as in flight; its result comes back as an event. */

import type { HealthCheck } from "../spec/index.ts";
import type { CheckKind } from "./checks.ts";

interface OfContainer {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

export type Action =
  /** Get the root file system. Result: `result` with target PULLED. */
  | ({ readonly type: "pull" } & OfContainer)
  /** `result` with target CREATED. */
  | ({ readonly type: "create" } & OfContainer)
  /** `result` with target RUNNING. */
  | ({ readonly type: "start" } & OfContainer)
  /** `result` with target RESOURCES_PROVISIONED. */
  | ({ readonly type: "provision" } & OfContainer)
  /** Until the cgroup is empty: the signal, after the time SIGKILL for all. `result` with target STOPPED. Not there: it succeeds. */
  | ({ readonly type: "stop"; readonly signal: string | number; readonly timeoutMs: number } & OfContainer)
  /** Forget it in the runtime. `removed`. Not there: it succeeds. */
  | ({ readonly type: "remove" } & OfContainer)
  /** Before its stop: run inside it. Never repeated. `preStopped`, whatever has come of it. */
  | ({ readonly type: "preStop"; readonly command: readonly string[]; readonly timeoutMs: number } & OfContainer)
  /** Give it the limits that its spec has now. `updated`. May be repeated. */
  | ({ readonly type: "update" } & OfContainer)
  | ({ readonly type: "checkHealth"; readonly kind: CheckKind; readonly check: HealthCheck } & OfContainer)
  /** `resource` with target CREATED or REMOVED. Both may be repeated. */
  | { readonly type: "createResource"; readonly name: string }
  | { readonly type: "removeResource"; readonly name: string }
  /** Remove the record, because nothing of the task is left. */
  | { readonly type: "forget" };

export type ActionType = Action["type"];
