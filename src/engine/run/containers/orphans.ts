/** Orphans: containers that the runtime knows and the store does not, because the store was restored from a backup or another program uses the directory. */
import { adoptedRecord, type FoundIncarnation, type Instant, reason, revisionOf, type TaskRecord } from "../../model/index.ts";
import type { Draft } from "../desired/draft.ts";
import type { EngineLog } from "../log.ts";
import type { OrphanTask } from "../resources/kept-volumes.ts";
import { forgetTask, releaseIncarnation, type TaskResource } from "../resources/resource.ts";
import type { SpecCopies } from "../resources/spec-copies.ts";
import { ANNOTATION } from "./launching.ts";
import type { ContainerRuntime, Present } from "./runtime.ts";

/**
 * show: orphans run on, and are only listed. adopt: a running task becomes a task of the engine again with its old spec; what cannot be adopted is listed. stop:
 * orphans are stopped, and removed together with everything else of their task.
 */
export type OrphanPolicy = "show" | "adopt" | "stop";

export interface OrphanView {
  /** Runtime id of the container. */
  readonly id: string;
  /** Id of its task. null, like the other fields: this engine did not make the container. */
  readonly task: string | null;
  readonly group: string | null;
  readonly name: string | null;
  readonly container: string | null;
  readonly generation: number | null;
  readonly isRunning: boolean;
}

export interface Adoption {
  readonly records: readonly TaskRecord[];
  /** Containers to stop whose task is not known. */
  readonly strays: readonly OrphanView[];
  /** The highest revision of any task that was found. */
  readonly revision: number;
}

/** Decides what to do with the orphans, without doing it. */
export function adoptionOf(
  orphans: readonly OrphanView[],
  stored: readonly TaskRecord[],
  { policy, specCopies, at }: { readonly policy: OrphanPolicy; readonly specCopies: SpecCopies; readonly at: Instant },
): Adoption {
  const tasks = [...new Set(orphans.flatMap(({ task }) => task ?? []))];
  const revision = Math.max(specCopies.lastRevision(), ...tasks.map(revisionOf).filter(Number.isSafeInteger));
  if (policy === "show") return { records: [], strays: [], revision };
  const records = tasks
    .flatMap((id) => recordOf(id, orphans, stored, specCopies, at) ?? [])
    .filter((one) => policy === "stop" || runs(one, orphans));
  const taken = new Set(records.map(({ id }) => id));
  const rest = orphans.filter(({ task }) => task !== null && !taken.has(task));
  return { records, strays: policy === "stop" ? rest : [], revision };
}

/** undefined: the task's spec is lost, or a newer task has its name. */
function recordOf(
  id: string,
  orphans: readonly OrphanView[],
  stored: readonly TaskRecord[],
  specCopies: SpecCopies,
  at: Instant,
): TaskRecord | undefined {
  const specCopy = specCopies.read(id);
  if (specCopy === undefined) return undefined;
  const isNewer = (one: TaskRecord) =>
    one.group === specCopy.group && one.name === specCopy.spec.name && revisionOf(one.id) >= revisionOf(id);
  if (stored.some(isNewer)) return undefined;
  const found = orphans.flatMap(({ task, container, generation, id: runtimeId }): FoundIncarnation[] =>
    task === id ? [{ container: container!, generation: generation!, runtimeId }] : [],
  );
  return adoptedRecord(specCopy, found, at);
}

function runs({ id }: TaskRecord, orphans: readonly OrphanView[]): boolean {
  return orphans.some(({ task, isRunning }) => task === id && isRunning);
}

/** Adds adopted tasks in the first turn, before their observations are applied. An older task of the same name counts as replaced by the adopted one. */
export function addAdopted(draft: Draft, records: readonly TaskRecord[]): void {
  for (const record of records) {
    const older = draft.all().filter(({ group, name, isDeleteAsked }) => group === record.group && name === record.name && !isDeleteAsked);
    draft.add(record);
    const why = reason("Replaced", `the task was replaced by ${record.id}`);
    for (const { id } of older) draft.apply(id, { type: "delete", at: draft.at, reason: why });
  }
}

/** Asks adopted tasks to stop. Called after `addAdopted`. */
export function stopAdopted(draft: Draft, records: readonly TaskRecord[]): void {
  const why = reason("Orphan", "the store did not know it, and the daemon is to stop what it does not know");
  for (const { id } of records) draft.apply(id, { type: "delete", at: draft.at, reason: why });
}

export class Orphans {
  readonly #runtime: Pick<ContainerRuntime, "present">;
  readonly #specCopies: SpecCopies;
  #ids = new Set<string>();

  constructor(runtime: Pick<ContainerRuntime, "present">, specCopies: SpecCopies) {
    this.#runtime = runtime;
    this.#specCopies = specCopies;
  }

  /** Sets the ids of the orphans to list. */
  keep(ids: Iterable<string>): void {
    this.#ids = new Set(ids);
  }

  /** The orphans that still exist. */
  async look(): Promise<OrphanView[]> {
    return orphansAmong(await this.#present(), new Set());
  }

  async #present(): Promise<Present[]> {
    if (this.#ids.size === 0) return [];
    const present = (await this.#runtime.present()).filter(({ id }) => this.#ids.has(id));
    this.#ids = new Set(present.map(({ id }) => id));
    return present;
  }

  /** The tasks of the orphans that run, or of which nobody can say, with what they were asked for as far as that is known. */
  async tasks(): Promise<OrphanTask[]> {
    const running = orphansAmong(
      (await this.#present()).filter(({ isRunning, isUnknown }) => isRunning || isUnknown),
      new Set(),
    );
    const groups = new Map(running.flatMap(({ task, group }) => (task === null || group === null ? [] : [[task, group] as const])));
    return [...groups].map(([id, group]) => ({ id, group, spec: this.#specCopies.read(id)?.spec }));
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

/** Stops containers whose task is not known. Nothing is recorded about them: if the daemon is killed, the next one finds what is left. */
const GRACE_MS = 10_000;

interface StraysOptions {
  readonly resources: readonly TaskResource[];
  readonly runtime: ContainerRuntime;
  readonly log: EngineLog;
}

export class Strays {
  readonly #options: StraysOptions;

  constructor(options: StraysOptions) {
    this.#options = options;
  }

  /** Stops the containers of all these tasks at the same time. Never rejects: what could not be removed is logged. */
  async stop(containers: readonly OrphanView[]): Promise<void> {
    const tasks = new Set(containers.map(({ task }) => task));
    await Promise.all([...tasks].map((task) => this.#stopTask(task, containers)));
  }

  async #stopTask(task: string | null, containers: readonly OrphanView[]): Promise<void> {
    const { log, resources } = this.#options;
    const own = containers.filter((one) => one.task === task);
    const ends = await Promise.allSettled(own.map(({ id }) => this.#stopContainer(task, id)));
    for (const [at, { id }] of own.entries()) {
      const end = ends[at]!;
      if (end.status === "fulfilled") log("info", "orphan-stopped", { id });
      else log("error", "orphan-not-stopped", { id, message: String(end.reason) });
    }
    if (task === null || ends.some(({ status }) => status === "rejected")) return;
    await forgetTask(resources, task, undefined).catch((error) => log("error", "orphan-not-removed", { task, message: String(error) }));
  }

  async #stopContainer(task: string | null, id: string): Promise<void> {
    const { runtime, resources } = this.#options;
    await runtime.stop(id, "SIGTERM", GRACE_MS);
    await runtime.remove(id);
    if (task !== null) await releaseIncarnation(resources, task, id);
  }
}
