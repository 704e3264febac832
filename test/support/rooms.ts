/** Through which rooms of src/runtime a call goes, by the phases and operations of its trace. */
import type { TraceEvent, TraceFile } from "./chrome-trace.ts";

/** A room is called by one of less depth. */
const DEPTH: Readonly<Record<string, number>> = { cli: 0, verbs: 1, prepare: 2, execute: 2, spec: 3, check: 3, config: 3, plan: 3 };

/** Phases and the runtime's operations, up to this operation and with it. */
export function eventsUntil({ events }: TraceFile, operation: string): TraceEvent[] {
  const own = events.filter(({ cat, args, ph }) => ph === "X" && (cat === "phase" || cat === "operation") && args["room"] !== undefined);
  const last = own.findIndex(({ name }) => name === operation);
  if (last === -1) throw new Error(`no operation ${operation}`);
  return own.slice(0, last + 1).filter(({ args }) => args["room"] !== "trace");
}

/** One line for each room that is entered, below the one that has called it. To come back to a room is not to enter it. */
export function roomsEntered(events: readonly TraceEvent[]): string[] {
  const open: string[] = [];
  const entered: string[] = [];
  for (const { args } of events) {
    const room = String(args["room"]);
    const depth = DEPTH[room];
    if (depth === undefined) throw new Error(`${room} is no room of the spine`);
    while (open.length > 0 && open.at(-1) !== room && DEPTH[open.at(-1)!]! >= depth) open.pop();
    if (open.at(-1) === room) continue;
    entered.push(`${"  ".repeat(open.length)}${room}`);
    open.push(room);
  }
  return entered;
}

/** Rooms that are entered more than once. */
export function enteredAgain(entered: readonly string[]): string[] {
  const names = entered.map((line) => line.trim());
  return names.filter((name, index) => names.indexOf(name) !== index);
}
