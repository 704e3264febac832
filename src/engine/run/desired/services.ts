/** Versions of services and their rollouts, applied to the draft of a turn. */
import {
  advanceRollout,
  agree,
  beginRollout,
  type ImagesOf,
  imagesWith,
  isActive,
  isSameVersion,
  lastGood,
  MOST_REVISIONS,
  type RevisionImages,
  type RevisionNote,
  type RevisionRecord,
  type RolloutDecision,
  type RolloutRecord,
  type RolloutStep,
  type RolloutView,
  revisionKey,
  type ServiceRecord,
  type SpecsOf,
  scaleRollout,
  serviceKey,
  type TaskRecord,
  watchedAgain,
  works,
} from "../../model/index.ts";
import { canonicalJson, replicaOf, specDigest, type TaskSpec } from "../../spec/index.ts";
import { scaledDown } from "./apply.ts";
import type { Draft } from "./draft.ts";
import type { Caller } from "./journal.ts";
import { withPorts } from "./ports.ts";
import { notScalable, scaledSpecs } from "./scale.ts";
import { changesBetween, type Version } from "./versions.ts";

/** What a service needs of the requests that it is part of. */
export interface ServicesHost {
  readonly draft: Draft;
  readonly by: Caller | undefined;
  /** Makes the id of a new task. */
  readonly newId: (group: string, name: string) => string;
  /** Adds tasks in the place of others. @throws EngineError no-room */
  readonly replace: (group: string, steps: readonly Replace[]) => void;
  /** Adds tasks of which nothing was there before. `images`: those that they get without a question to their sources. @throws EngineError no-room */
  readonly add: (group: string, specs: readonly TaskSpec[], images: RevisionImages | undefined) => void;
}

export type Replace = Extract<RolloutStep, { type: "replace" }>;

/** How often a decision may lead to another one at the same moment. The limit only guards against defects. */
const MOST_ROUNDS = 1000;

export class Services {
  readonly #host: ServicesHost;

  constructor(host: ServicesHost) {
    this.#host = host;
  }

  /** Makes the replicas of a service those of a version, step by step. Returns its number. @throws EngineError no-room */
  roll({ group, name, specs, cause, of, images, isStale = false, isForced = false }: Version): number {
    const { draft } = this.#host;
    const stored = draft.services.get(serviceKey({ group, name }));
    const before = stored ?? this.#earlier({ group, name }, specs);
    this.#noteImages(before);
    const current = this.specsOf(before)(before.rollout.to);
    const imagesNow = this.imagesOf(before)(before.rollout.to);
    const isSame = current !== undefined && isSameVersion(current, specs) && agree(imagesNow, images);
    const isRestart = isSame && isForced;
    // The same file again: the rollout goes on, or has ended. One that has stopped is tried again.
    const { state } = before.rollout;
    if (isSame && !isRestart && (state === "progressing" || (state === "complete" && !isStale))) {
      if (stored === undefined) draft.services.set(serviceKey(before), before);
      return before.rollout.to;
    }
    const changed = changesBetween(current, specs, imagesNow, images);
    const { service, number } = this.#withRevision(before, { specs, images, cause, changed, ...(of === undefined ? {} : { of }) });
    const isUpdate = this.#present(group, specs).length > 0;
    const kind = isRestart ? "restart" : isUpdate ? "update" : "create";
    this.#removeSurplus(service, specs);
    this.#take(beginRollout(service, { kind, to: number, from: lastGood(before) }, this.#view(service)));
    this.advance(serviceKey({ group, name }));
    return number;
  }

  /** The service with a new version, which is recorded. */
  #withRevision(
    before: ServiceRecord,
    { specs, images, ...given }: Pick<Version, "specs" | "images"> & Pick<RevisionNote, "cause" | "changed"> & Partial<RevisionNote>,
  ): { readonly service: ServiceRecord; readonly number: number } {
    const { draft, by } = this.#host;
    const { group, name: service } = before;
    const number = (before.revisions.at(-1)?.number ?? 0) + 1;
    const note = {
      number,
      atMs: draft.at.wallMs,
      verdict: "unknown",
      reason: null,
      ...given,
      ...(by === undefined ? {} : { by }),
    } as const;
    draft.revisions.set(revisionKey({ group, service, number }), { group, service, number, specs, ...(images && { images }) });
    return { service: { ...before, revisions: [...before.revisions, note] }, number };
  }

  /**
   * Gives the service so many replicas. New ones start at once. A rollout that goes on goes on, and one that is paused or has failed stays so: then new replicas
   * get the last good version. Returns the number of its version. @throws EngineError not-scalable, no-room
   */
  scale(service: ServiceRecord, count: number): number {
    const { add } = this.#host;
    const { group, name } = service;
    const { to, from, kind, state } = service.rollout;
    this.#noteImages(service);
    const current = this.specsOf(service)(to);
    if (current === undefined || current.length === 0) throw notScalable(name, "the specs of its current revision are lost");
    if (current.length === count && state !== "complete") return to;
    const images = this.imagesOf(service)(to);
    const specs = this.#scaledTo(service, current, count);
    const had = new Set(current.map((one) => one.name));
    const present = new Set(this.#present(group, specs).map((one) => one.name));
    const isStopped = state === "paused" || state === "failed";
    const source = isStopped && kind === "update" && from !== null ? from : to;
    const earlier = source === to ? undefined : this.specsOf(service)(source);
    const others = new Map((earlier === undefined ? [] : this.#scaledTo(service, earlier, count)).map((spec) => [spec.name, spec]));
    const added = specs.filter((one) => !had.has(one.name) && !present.has(one.name)).map((one) => others.get(one.name) ?? one);
    add(group, added, earlier === undefined ? images : this.imagesOf(service)(source));
    if (state === "complete") return this.roll({ group, name, specs, cause: "scale", images });
    const changed = changesBetween(current, specs, images, images);
    const noted = isStopped ? service.revisions.find((one) => one.number === to) : undefined;
    const { verdict = "unknown", reason = null } = noted ?? {};
    const { service: scaled, number } = this.#withRevision(service, { specs, images, cause: "scale", changed, verdict, reason });
    this.#removeSurplus(scaled, specs);
    this.#take(scaleRollout(scaled, number, this.#view(scaled)));
    this.advance(serviceKey({ group, name }));
    return number;
  }

  /** The specs of so many replicas, with their ports. Those that are there keep their specs. @throws EngineError not-scalable, no-room */
  #scaledTo({ group, name }: ServiceRecord, current: readonly TaskSpec[], count: number): readonly TaskSpec[] {
    const specs = scaledSpecs(current, count);
    const had = new Set(current.map((one) => one.name));
    const added = specs.filter((spec) => !had.has(spec.name));
    if (added.length === 0) return specs;
    const all = this.#host.draft.all();
    const names = new Set(added.map((spec) => spec.name));
    const isOther = (one: TaskRecord) =>
      one.group === group && names.has(one.name) && !one.isDeleteAsked && replicaOf(one.spec)?.service !== name;
    const other = all.find(isOther);
    if (other !== undefined) throw notScalable(name, `${other.name} is another task of the group`);
    return [...specs.filter((spec) => had.has(spec.name)), ...withPorts(added, group, all)];
  }

  /** A service of which nothing is known. What runs under the names of its replicas is its first version. */
  #earlier({ group, name }: Pick<ServiceRecord, "group" | "name">, specs: readonly TaskSpec[]): ServiceRecord {
    const { draft } = this.#host;
    const present = this.#present(group, specs);
    const { bootId, wallMs: atMs } = draft.at;
    const isKnown = present.length > 0;
    const rollout: RolloutRecord = {
      ...{ kind: "create", to: isKnown ? 1 : 0, from: null, state: "complete", reason: null },
      ...{ bootId, begunMs: atMs, endedMs: atMs, nextAt: null, replicas: [] },
    };
    if (!isKnown) return { version: 1, group, name, revisions: [], rollout };
    const [{ update, rollback } = {}] = specs;
    const places = new Map(specs.map((one) => [one.name, one.replica]));
    const earlier = present.map(({ spec }) => ({ ...spec, update, rollback, replica: places.get(spec.name) }));
    const images = imagesWith(undefined, present);
    draft.revisions.set(revisionKey({ group, service: name, number: 1 }), {
      ...{ group, service: name, number: 1, specs: earlier },
      ...(images && { images }),
    });
    const verdict = present.every(works) ? "good" : "unknown";
    return { version: 1, group, name, revisions: [{ number: 1, cause: "apply", atMs, changed: [], verdict, reason: null }], rollout };
  }

  /** Replicas that the version does not have, the one with the highest index first. */
  #removeSurplus({ group, name }: ServiceRecord, specs: readonly TaskSpec[]): void {
    const { draft } = this.#host;
    const names = new Set(specs.map((spec) => spec.name));
    const isSurplus = (one: TaskRecord) =>
      one.group === group && !one.isDeleteAsked && !names.has(one.name) && replicaOf(one.spec)?.service === name;
    const surplus = draft.all().filter(isSurplus);
    surplus.sort((a, b) => (replicaOf(b.spec)?.index ?? 0) - (replicaOf(a.spec)?.index ?? 0));
    const why = scaledDown(name, specs);
    draft.applyTogether(surplus.map(({ id }) => [id, { type: "delete", at: draft.at, reason: why }]));
  }

  /** The tasks that were there before this request, one for each replica. */
  #present(group: string, specs: readonly TaskSpec[]): TaskRecord[] {
    const { draft } = this.#host;
    const isThere = ({ isDeleteAsked, desired, createdAt }: TaskRecord) =>
      !isDeleteAsked && desired === "RUNNING" && createdAt !== draft.at;
    const newest = new Map(draft.all().flatMap((one) => (one.group === group && isThere(one) ? [[one.name, one]] : [])));
    return specs.flatMap(({ name }) => newest.get(name) ?? []);
  }

  /** Goes on with a rollout as far as the tasks allow it now. @throws EngineError no-room */
  advance(key: string): void {
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const service = this.#host.draft.services.get(key);
      if (service === undefined || !isActive(service.rollout)) return;
      const decision = advanceRollout(service, this.#view(service));
      if (decision.service === service) return;
      this.#take(decision);
    }
  }

  /** Called when a daemon has started. */
  watchAgain(): void {
    const { draft } = this.#host;
    for (const service of draft.services.values()) {
      const next = watchedAgain(service, draft.at);
      if (next !== service) draft.services.set(serviceKey(service), next);
    }
  }

  /** Changes the record of a service, and goes on. */
  change(service: ServiceRecord, state: "paused" | "resumed"): void {
    this.#host.draft.services.set(serviceKey(service), service);
    this.#tell(service, { state, task: null }, this.#host.by);
    this.advance(serviceKey(service));
  }

  /** Forgets the versions of a service. Its tasks stay as they are. */
  forget(key: string): void {
    const { draft } = this.#host;
    const service = draft.services.get(key);
    if (service === undefined) return;
    draft.services.set(serviceKey(service), undefined);
    for (const { number } of service.revisions)
      draft.revisions.set(revisionKey({ group: service.group, service: service.name, number }), undefined);
  }

  #take({ service, steps, told }: RolloutDecision): void {
    const { draft, replace, by } = this.#host;
    for (const one of told) this.#tell(service, one, one.state === "started" ? by : undefined);
    // A version that is left now may have failed with the first image that it has pulled.
    const before = draft.services.get(serviceKey(service));
    if (before !== undefined) this.#noteImages(before);
    draft.services.set(serviceKey(service), this.#trimmed(service));
    this.#noteImages(service);
    for (const step of steps) if (step.type === "remove") draft.apply(step.id, { type: "delete", at: draft.at, reason: step.reason });
    const replaced = steps.filter((step) => step.type === "replace");
    if (replaced.length > 0) replace(service.group, replaced);
  }

  #tell({ group, name, rollout }: ServiceRecord, told: RolloutDecision["told"][number], by: Caller | undefined): void {
    this.#host.draft.tell({ type: "rollout", group, name, revision: rollout.to, ...told, ...(by === undefined ? {} : { by }) });
  }

  /** The oldest versions are forgotten, except those that the rollout needs. */
  #trimmed(service: ServiceRecord): ServiceRecord {
    const { rollout, revisions, group, name } = service;
    const needed = new Set([rollout.to, rollout.from, rollout.failed, lastGood(service)]);
    const old = revisions.slice(0, Math.max(0, revisions.length - MOST_REVISIONS)).filter(({ number }) => !needed.has(number));
    if (old.length === 0) return service;
    for (const { number } of old) this.#host.draft.revisions.set(revisionKey({ group, service: name, number }), undefined);
    return { ...service, revisions: revisions.filter((one) => !old.includes(one)) };
  }

  get(of: Pick<ServiceRecord, "group" | "name">): ServiceRecord | undefined {
    return this.#host.draft.services.get(serviceKey(of));
  }

  /** The versions that are known. */
  recordsOf({ group, name }: Pick<ServiceRecord, "group" | "name">): (number: number) => RevisionRecord | undefined {
    return (number) => this.#host.draft.revisions.get(revisionKey({ group, service: name, number }));
  }

  /** The specs of the versions that are known. */
  specsOf({ group, name }: Pick<ServiceRecord, "group" | "name">): SpecsOf {
    return (number) => this.#host.draft.revisions.get(revisionKey({ group, service: name, number }))?.specs;
  }

  /** The images of the versions that are known. */
  imagesOf({ group, name }: Pick<ServiceRecord, "group" | "name">): ImagesOf {
    return (number) => this.#host.draft.revisions.get(revisionKey({ group, service: name, number }))?.images;
  }

  /** The images that a new task gets: as a replica, those of the current version of its service. */
  imagesFor(group: string, spec: TaskSpec): RevisionImages | undefined {
    const name = replicaOf(spec)?.service;
    const service = name === undefined ? undefined : this.get({ group, name });
    return service && this.imagesOf(service)(service.rollout.to);
  }

  /**
   * The images that an applied file gives the replicas of a service: those of the current version, if the file has its containers.
   * undefined: they pull as their policies say. A version that has not worked, or has stopped, is tried again with what its tags lead to.
   */
  imagesKept(of: Pick<ServiceRecord, "group" | "name">, specs: readonly TaskSpec[]): RevisionImages | undefined {
    const service = this.get(of);
    const { to, state } = service?.rollout ?? {};
    if (service === undefined || to === undefined || (state !== "complete" && state !== "progressing")) return undefined;
    if (service.revisions.some(({ number, verdict }) => number === to && verdict === "failed")) return undefined;
    const version = this.recordsOf(service)(to);
    if (version?.images === undefined) return undefined;
    const known = new Map(version.specs.map(({ name, containers }) => [name, containers]));
    const there = specs.filter(({ name }) => known.has(name));
    const isSame = ({ name, containers }: TaskSpec) => canonicalJson(containers) === canonicalJson(known.get(name));
    return there.length > 0 && there.every(isSame) ? version.images : undefined;
  }

  /** Keeps what the replicas of the current version have pulled, so that later ones, and a return to the version, get the same. */
  #noteImages({ group, name, rollout }: ServiceRecord): void {
    const { draft } = this.#host;
    const key = revisionKey({ group, service: name, number: rollout.to });
    const revision = draft.revisions.get(key);
    if (revision === undefined) return;
    const wanted = new Map(revision.specs.map((spec) => [spec.name, spec]));
    const isOfVersion = (task: TaskRecord) => {
      const spec = wanted.get(task.name);
      return spec !== undefined && specDigest(spec) === task.digest;
    };
    const tasks = rollout.replicas.flatMap(({ state, task }) => (state === "waiting" || task === null ? [] : (draft.get(task) ?? [])));
    const images = imagesWith(revision.images, tasks.filter(isOfVersion));
    if (images !== undefined && images !== revision.images) draft.revisions.set(key, { ...revision, images });
  }

  #view(service: Pick<ServiceRecord, "group" | "name">): RolloutView {
    const { draft, newId } = this.#host;
    const { group } = service;
    const [specsOf, imagesOf] = [this.specsOf(service), this.imagesOf(service)];
    return { specsOf, imagesOf, tasks: draft.all(), now: draft.at, newId: (name) => newId(group, name) };
  }
}
