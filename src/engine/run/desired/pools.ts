/** Changes of pools, applied to the draft of a turn. The pools themselves follow the records (run/pools). */
import { currentPool, type PoolRecord, type UserRanges } from "../../model/index.ts";
import { type PoolSpec, specDigest } from "../../spec/index.ts";
import { EngineError, unknownPool } from "../errors.ts";
import type { Applied, ApplyOptions } from "./apply.ts";
import type { Draft } from "./draft.ts";
import type { Caller, PoolState } from "./journal.ts";
import { checkOrigin } from "./origin.ts";

export interface PoolsPlan {
  readonly applied: readonly Applied[];
  readonly added: readonly PoolRecord[];
  /** They come from another file from now on. */
  readonly adopted: readonly PoolRecord[];
  /** They are removed; a program that runs in one may end. */
  readonly ended: readonly PoolRecord[];
}

export interface PoolsPresent {
  readonly pools: readonly PoolRecord[];
  /** Ranges that nobody has. */
  readonly ranges: UserRanges;
  readonly newId: (name: string) => string;
  readonly atMs: number;
}

/** Plans what applying the pools of a file changes. Pure. @throws EngineError other-origin, no-room */
export function planPools(
  specs: readonly PoolSpec[],
  group: string,
  { pools, ranges, newId, atMs }: PoolsPresent,
  { prune = false, ...origin }: Pick<ApplyOptions, "prune" | "from" | "isProject" | "takeOver">,
): PoolsPlan {
  const names = new Set(specs.map(({ name }) => name));
  const present = pools.filter((one) => one.group === group && one.ending === undefined);
  const owned = present.map((one) => ({
    group,
    name: one.name,
    isDeleteAsked: false,
    ...(one.from === undefined ? {} : { from: one.from }),
  }));
  if (names.size > 0) checkOrigin({ ...origin, isProject: false }, { group, tasks: owned, project: undefined }, (name) => names.has(name));
  const plan = { applied: [] as Applied[], added: [] as PoolRecord[], adopted: [] as PoolRecord[], ended: [] as PoolRecord[] };
  const say = (id: string, name: string, change: Applied["change"]) => plan.applied.push({ id, name, change, kind: "pool" });
  const { from } = origin;
  for (const spec of specs) {
    const current = currentPool(present, group, spec.name);
    const digest = specDigest(spec);
    if (current?.digest === digest) {
      if (from !== undefined && current.from !== from) plan.adopted.push({ ...current, from });
      say(current.id, spec.name, "unchanged");
      continue;
    }
    const users = ranges.take({ privateUsers: true });
    if (typeof users === "string")
      throw new EngineError("no-room", `pool ${spec.name} does not fit: no range of users is free`, { pool: spec.name });
    const id = newId(spec.name);
    const origins = from ?? current?.from;
    plan.added.push({
      ...{ version: 1, id, group, name: spec.name, spec, digest, users, image: null, createdMs: atMs },
      ...(origins === undefined ? {} : { from: origins }),
    });
    if (current !== undefined) plan.ended.push(current);
    say(id, spec.name, current === undefined ? "created" : "replaced");
  }
  for (const one of present.filter(({ name }) => !names.has(name))) {
    if (prune) plan.ended.push(one);
    say(one.id, one.name, prune ? "removed" : "absent");
  }
  return plan;
}

/** Puts a plan into the draft. */
export function carryOutPools(draft: Draft, { added, adopted, ended }: PoolsPlan, by: Caller | undefined): void {
  for (const record of adopted) draft.pools.set(record.id, record);
  for (const record of ended) endPool(draft, record, "drain", by);
  for (const record of added) {
    draft.pools.set(record.id, record);
    tellOfPool(draft, record, "added", { by });
  }
}

/** Removes these pools of the group. Returns the names of those that were there. */
export function deletePools(
  draft: Draft,
  group: string,
  names: readonly string[] | "all",
  how: "drain" | "kill",
  by: Caller | undefined,
): string[] {
  const meant = draft.pools.values().filter((one) => one.group === group && (names === "all" || names.includes(one.name)));
  const found = meant.filter(({ ending }) => ending === undefined || (ending === "drain" && how === "kill"));
  for (const record of found) endPool(draft, record, how, by);
  return [...new Set(found.map(({ name }) => name))];
}

/** @throws EngineError unknown-pool */
export function deletePool(draft: Draft, name: string, group: string, how: "drain" | "kill", by: Caller | undefined): void {
  const all = draft.pools.values();
  if (!all.some((one) => one.group === group && one.name === name)) throw unknownPool(name, group, all);
  deletePools(draft, group, [name], how, by);
}

function endPool(draft: Draft, record: PoolRecord, how: "drain" | "kill", by: Caller | undefined): void {
  draft.pools.set(record.id, { ...record, ending: how });
  tellOfPool(draft, record, "ending", { by });
}

export function tellOfPool(
  draft: Draft,
  { id, group, name }: PoolRecord,
  state: PoolState,
  { by, message }: { readonly by?: Caller | undefined; readonly message?: string } = {},
): void {
  draft.tell({
    ...{ type: "pool", pool: id, task: null, group, name, state },
    ...(by === undefined ? {} : { by }),
    ...(message === undefined ? {} : { message }),
  });
}
