import { NO_SLOT, type OPS, type OpArgs, type OpName, SLOT } from "../../../shared/protocol/index.ts";
import type { Op, Phase } from "../plan.ts";
import type { Part, Schedule } from "../schedule.ts";

/** Collects operations, lays their parts in the scheduled order, and numbers descriptor slots. */
export interface Builder {
  readonly ops: readonly Op[];
  readonly slots: number;
  /** What is appended from here on belongs to this part. */
  begin(part: Part): void;
  /** Append an operation; `from` is the JSON pointer it comes from ("" = implied). */
  add<K extends OpName>(actor: (typeof OPS)[K]["actors"][number], phase: Phase, op: K, args: OpArgs<K>, from?: string): void;
  /** A fresh slot, or `count` consecutive ones (the first is returned). */
  slot(count?: number): number;
  /** A fresh slot that a later step finds by this name. */
  slotFor(name: string): number;
  /** The slot that an earlier step has taken for this name. */
  slotOf(name: string): number | undefined;
}

/** Without a schedule the order is the natural one. */
export function createBuilder(schedule?: Schedule): Builder {
  const lists: Record<number, Op[]> = {};
  let ops: Op[] = [];
  const named = new Map<string, number>();
  let next: number = SLOT.FIRST_FREE;
  const slot = (count = 1): number => {
    const first = next;
    next += count;
    if (next >= NO_SLOT) throw new RangeError("too many descriptor slots");
    return first;
  };
  return {
    get ops() {
      return schedule ? joined(lists, schedule) : ops;
    },
    begin(part) {
      if (schedule === undefined) return;
      const place = schedule.places[part];
      ops = lists[place] ?? [];
      lists[place] = ops;
    },
    get slots() {
      return next;
    },
    add(actor, phase, op, args, from = "") {
      // A third of what push() takes, for a hundred operations.
      ops[ops.length] = { op, actor, phase, from, args } as unknown as Op;
    },
    slot,
    slotFor(name) {
      const first = slot();
      named.set(name, first);
      return first;
    },
    slotOf: (name) => named.get(name),
  };
}

/** Properties with numbers for names come in the order of the numbers. */
function joined(lists: Record<number, Op[]>, { handedOver, handedBack }: Schedule): Op[] {
  for (const place of handedOver) lists[place] = (lists[place] ?? []).map(asInit);
  if (handedBack !== undefined) lists[handedBack] = (lists[handedBack] ?? []).map(asIntermediate);
  const none: Op[] = [];
  return none.concat(...Object.values(lists));
}

function asInit(op: Op): Op {
  return { ...op, actor: "init" };
}

function asIntermediate(op: Op): Op {
  return { ...op, actor: "intermediate" } as Op;
}
