/** While the store cannot be written, the engine only stops containers, because a stop may be repeated. */
import type { Draft, Order } from "./draft.ts";

const WHY = "it was not run: the store cannot be written";

/** The stops that follow from a draft which could not be stored. `known`: runtime ids of those that were begun before; the new ones are added. */
export function stopsOf(draft: Draft, known: Set<string>): Order[] {
  // What is run before a stop is run once at most, and once is not known to be none: it is left out. A stop may wait for it.
  for (let at = 0; at < draft.orders.length; at++) {
    const { action, record } = draft.orders[at]!;
    if (action.type !== "preStop") continue;
    const { container, generation } = action;
    draft.apply(record.id, { type: "preStopped", at: draft.at, container, generation, error: WHY });
  }
  return draft.orders.filter(({ action }) => {
    if (action.type !== "stop" || known.has(action.runtimeId)) return false;
    known.add(action.runtimeId);
    return true;
  });
}
