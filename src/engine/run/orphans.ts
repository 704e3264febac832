/** Orphans: containers that the runtime knows and the store does not. The store is older than what runs, or somebody else has used the directory. */
import { adoptedRecord, type FoundIncarnation, type Instant, reason, revisionOf, type TaskRecord } from "../model/index.ts";
import type { Cards } from "./cards.ts";
import type { Draft } from "./draft.ts";
import { ANNOTATION } from "./launching.ts";
import type { ContainerRuntime, Present } from "./runtime.ts";

/**
 * show: they run on and are shown. adopt: a task that runs is taken over as it was applied; what cannot be is shown. stop: they are stopped and removed, with
 * all of their task.
 */
export type OrphanPolicy = "show" | "adopt" | "stop";

export interface OrphanView {
  /** Of the container, in the runtime. */
  readonly id: string;
  /** Of its task; null, as the rest: this engine has not made it. */
  readonly task: string | null;
  readonly group: string | null;
  readonly name: string | null;
  readonly container: string | null;
  readonly generation: number | null;
  readonly isRunning: boolean;
}

export interface Adoption {
  readonly records: readonly TaskRecord[];
  /** Containers that are stopped without a record: what their task was is not known. */
  readonly strays: readonly OrphanView[];
  /** The highest revision of what was found. */
  readonly revision: number;
}

/** Decides what becomes of them; nothing is done yet. */
export function adoptionOf(
  orphans: readonly OrphanView[],
  stored: readonly TaskRecord[],
  { policy, cards, at }: { readonly policy: OrphanPolicy; readonly cards: Cards; readonly at: Instant },
): Adoption {
  const tasks = [...new Set(orphans.flatMap(({ task }) => task ?? []))];
  const revision = Math.max(cards.lastRevision(), ...tasks.map(revisionOf).filter(Number.isSafeInteger));
  if (policy === "show") return { records: [], strays: [], revision };
  const records = tasks
    .flatMap((id) => recordOf(id, orphans, stored, cards, at) ?? [])
    .filter((one) => policy === "stop" || runs(one, orphans));
  const taken = new Set(records.map(({ id }) => id));
  const rest = orphans.filter(({ task }) => task !== null && !taken.has(task));
  return { records, strays: policy === "stop" ? rest : [], revision };
}

/** undefined: nobody knows what it was, or something newer has its name. */
function recordOf(
  id: string,
  orphans: readonly OrphanView[],
  stored: readonly TaskRecord[],
  cards: Cards,
  at: Instant,
): TaskRecord | undefined {
  const card = cards.read(id);
  if (card === undefined) return undefined;
  const isNewer = (one: TaskRecord) => one.group === card.group && one.name === card.spec.name && revisionOf(one.id) >= revisionOf(id);
  if (stored.some(isNewer)) return undefined;
  const found = orphans.flatMap(({ task, container, generation, id: runtimeId }): FoundIncarnation[] =>
    task === id ? [{ container: container!, generation: generation!, runtimeId }] : [],
  );
  return adoptedRecord(card, found, at);
}

function runs({ id }: TaskRecord, orphans: readonly OrphanView[]): boolean {
  return orphans.some(({ task, isRunning }) => task === id && isRunning);
}

/** In the first turn, before anything that was seen of them is told. An older task of the name is what it has replaced. */
export function addAdopted(draft: Draft, records: readonly TaskRecord[]): void {
  for (const record of records) {
    const older = draft.all().filter(({ group, name, isDeleteAsked }) => group === record.group && name === record.name && !isDeleteAsked);
    draft.add(record);
    const why = reason("Replaced", `the task was replaced by ${record.id}`);
    for (const { id } of older) draft.apply(id, { type: "delete", at: draft.at, reason: why });
  }
}

/** After that. */
export function stopAdopted(draft: Draft, records: readonly TaskRecord[]): void {
  const why = reason("Orphan", "the store did not know it, and the daemon is to stop what it does not know");
  for (const { id } of records) draft.apply(id, { type: "delete", at: draft.at, reason: why });
}

export class Orphans {
  readonly #runtime: ContainerRuntime;
  #ids = new Set<string>();

  constructor(runtime: ContainerRuntime) {
    this.#runtime = runtime;
  }

  /** From now on these are looked at. */
  keep(ids: Iterable<string>): void {
    this.#ids = new Set(ids);
  }

  /** Those that are still there. */
  async look(): Promise<OrphanView[]> {
    if (this.#ids.size === 0) return [];
    const present = (await this.#runtime.present()).filter(({ id }) => this.#ids.has(id));
    this.#ids = new Set(present.map(({ id }) => id));
    return orphansAmong(present, new Set());
  }

  get ids(): readonly string[] {
    return [...this.#ids];
  }
}

export function orphansAmong(present: readonly Present[], known: ReadonlySet<string>): OrphanView[] {
  return present.filter(({ id }) => !known.has(id)).map(viewOf);
}

function viewOf({ id, isRunning, annotations }: Present): OrphanView {
  const { [ANNOTATION.task]: task, [ANNOTATION.group]: group, [ANNOTATION.container]: container } = annotations;
  const generation = Number(annotations[ANNOTATION.generation]);
  if (task === undefined || group === undefined || container === undefined || !Number.isSafeInteger(generation))
    return { id, task: null, group: null, name: null, container: null, generation: null, isRunning };
  return { id, task, group, name: task.slice(group.length + 1, task.lastIndexOf(".")), container, generation, isRunning };
}
