/** While the store cannot be written, the engine only performs stops, because a stop may be repeated. */
import type { Draft, Order } from "./draft.ts";

const WHY = "it was not run: the store cannot be written";

/** The stops that follow from a draft that could not be stored. `known`: runtime ids of stops that were already started; new ones are added. */
export function stopsOf(draft: Draft, known: Set<string>): Order[] {
  // A preStop command must run at most once, which cannot be guaranteed without the store. It is skipped, because a stop may wait for its result.
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
