/**
 * Events of a verb for its observers: --trace (src/runtime/trace), --debug, and the head start, which needs the configuration early. Without
 * an observer the function is undefined and not called.
 */

/** A room of src/runtime, as far as spans of --trace are in it. */
export type Room = "cli" | "verbs" | "prepare" | "spec" | "check" | "config" | "plan" | "execute" | "trace";

/** What the pipeline has made: config.json as JSON, the checked and derived configuration, the plan. */
export type Stage = "parsed" | "checked" | "planned";

/** What is shown of an operation's place (Plan of src/runtime/plan). */
interface Operations {
  readonly ops: readonly unknown[];
}

export interface Observer {
  /** A phase begins in this room, and the one before ends. */
  readonly phase?: (name: string, room: Room) => void;
  /** The runtime begins the operation of this index; behind the last one: it has ended the last. */
  readonly operation?: (plan: Operations, index: number) => void;
  /** The pipeline has come to this stage. */
  readonly reached?: (stage: Stage, result: unknown) => void;
}

export let phase: Observer["phase"];
export let operation: Observer["operation"];
export let reached: Observer["reached"];

/** From here on; who observes already goes on doing so. */
export function observe(observer: Observer): void {
  phase = both(phase, observer.phase);
  operation = both(operation, observer.operation);
  reached = both(reached, observer.reached);
}

function both<A extends unknown[]>(
  first: ((...args: A) => void) | undefined,
  second: ((...args: A) => void) | undefined,
): ((...args: A) => void) | undefined {
  if (!first || !second) return first ?? second;
  return (...args) => {
    first(...args);
    second(...args);
  };
}
