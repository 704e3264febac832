/**
 * Where a verb is, for --trace (src/runtime/trace). Without it both are undefined, and then nothing is called. These are all the traces of it in
 * what every call loads.
 */

/** What is shown of an operation's place (Plan of src/runtime/plan). */
interface Operations {
  readonly ops: readonly unknown[];
}

/** A phase begins, and the one before ends. */
export let phase: ((name: string) => void) | undefined;

/** The runtime begins the operation of this index; behind the last one: it has ended the last. */
export let operation: ((plan: Operations, index: number) => void) | undefined;

export function observe(onPhase: typeof phase, onOperation: typeof operation): void {
  phase = onPhase;
  operation = onOperation;
}
