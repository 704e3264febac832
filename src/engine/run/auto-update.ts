/** Asks registries for newer images of the tags that services run, and rolls these out. */
import { ImageError, type Images, latestDigest, type Pin, Slots, tagIn } from "../images/index.ts";
import {
  hasLeft,
  type ImageRecord,
  imagesWith,
  isActive,
  type RevisionImages,
  type RevisionRecord,
  revisionKey,
  type ServiceRecord,
  serviceKey,
  type TaskRecord,
} from "../model/index.ts";
import { type ContainerSpec, replicaOf, updatePolicy } from "../spec/index.ts";
import type { Edits } from "./desired/edits.ts";
import type { Caller } from "./desired/journal.ts";
import { EngineError, unknownService } from "./errors.ts";
import { imageRecordOf } from "./pulling.ts";
import type { EngineSettings } from "./settings.ts";

export interface AutoUpdateRequest {
  /** null: all groups. */
  readonly group: string | null;
  /** Names of services of the group. Absent: all. */
  readonly names?: readonly string[] | undefined;
  /** Only asks. */
  readonly dryRun: boolean;
}

/** A container of a service, which stands for those of all replicas. */
export interface AutoUpdateView {
  readonly group: string;
  readonly name: string;
  readonly container: string;
  /** The reference in its spec; null: it has no image. */
  readonly image: string | null;
  /** The digest that runs; null: unknown. */
  readonly from: string | null;
  /** The digest that the registry has; null: it was not asked, or has not answered. */
  readonly to: string | null;
  /** updating: a rollout has begun. pending: it would, without `dryRun`. no: it stays as it is. */
  readonly state: "updating" | "pending" | "no" | "failed";
  /** The revision to which the rollout leads; null: none has begun. */
  readonly revision: number | null;
  /** Why it stays, or has failed; null: the registry has nothing newer, or has something newer. */
  readonly reason: string | null;
}

export interface AutoUpdateOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
  readonly edits: Pick<Edits, "make">;
  readonly images: Images;
  readonly credentials: NonNullable<EngineSettings["images"]>["credentials"];
}

/** Questions to registries at once. */
const QUESTIONS_AT_ONCE = 4;
const ROLLED_BACK = "rolled back before";
const MOVED = "the tag has moved while it was pulled";
const NO_UPDATE = "the task has no `update`, so that it could not return to the image that it has";

/** What is found out about a container. `image`: what it is to get. */
interface Found {
  readonly view: AutoUpdateView;
  readonly image?: ImageRecord;
}

export class AutoUpdate {
  readonly #options: AutoUpdateOptions;
  readonly #turn = new Slots(1);
  readonly #questions = new Slots(QUESTIONS_AT_ONCE);
  readonly #controller = new AbortController();
  /** Images that were pulled, and that no version has yet. */
  readonly #pulled = new Set<ImageRecord>();

  constructor(options: AutoUpdateOptions) {
    this.#options = options;
  }

  /** Images that must not be removed. */
  get used(): readonly ImageRecord[] {
    return [...this.#pulled];
  }

  stop(): void {
    this.#controller.abort(new Error("the engine was closed"));
  }

  /**
   * One view for each container that is to be updated, or that was named. One registry that fails does not stop the others. Requests run one after the other.
   * @throws EngineError unknown-service
   */
  async run(request: AutoUpdateRequest, by: Caller | undefined): Promise<readonly AutoUpdateView[]> {
    const services = this.#asked(request);
    return this.#turn.during(this.#controller.signal, async () => {
      const answers = new Map<string, Promise<string>>();
      const views = await Promise.all(services.map((service) => this.#update(service, request, answers, by)));
      return [...views.flat(), ...(request.names === undefined ? this.#withoutService(request.group) : [])];
    });
  }

  #asked({ group, names }: AutoUpdateRequest): ServiceRecord[] {
    const { services } = this.#options;
    if (names !== undefined && group !== null)
      return [...new Set(names)].map((name) => {
        const service = services.get(serviceKey({ group, name }));
        if (service === undefined) throw unknownService(name, group);
        return service;
      });
    const all = [...services].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, service]) => service);
    return all.filter((one) => group === null || one.group === group);
  }

  async #update(
    service: ServiceRecord,
    { names, dryRun }: AutoUpdateRequest,
    answers: Map<string, Promise<string>>,
    by: Caller | undefined,
  ): Promise<AutoUpdateView[]> {
    const { group, name, rollout } = service;
    const spec = this.#recordOf(service, rollout.to)?.specs[0];
    const wanted = (spec?.containers ?? []).filter((one) => names !== undefined || updatePolicy(one) !== false);
    const images = this.#imagesNow(service);
    const found = await Promise.all(wanted.map((one) => this.#find({ service, spec: one, images, dryRun }, answers)));
    const views = found.map(({ view }) => view);
    const moved = found.flatMap(({ image }) => image ?? []);
    if (moved.length === 0) return views;
    const to = (change: Partial<AutoUpdateView>) =>
      found.map(({ view, image }): AutoUpdateView => (image === undefined ? view : { ...view, ...change }));
    try {
      if (views.some(({ state }) => state === "failed")) return to({ state: "no", reason: "another image of the service has failed" });
      const now = { ...images, ...Object.fromEntries(moved.map((image) => [image.reference, image])) };
      const revision = await this.#options.edits.make(by, ({ services }) => {
        const current = services.get({ group, name });
        const specs = current && services.specsOf(current)(rollout.to);
        if (current?.rollout.to !== rollout.to || isActive(current.rollout) || specs === undefined) return null;
        return services.roll({ group, name, specs, cause: "autoupdate", images: now });
      });
      return revision === null ? to({ state: "no", reason: "the service was changed meanwhile" }) : to({ state: "updating", revision });
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      return to({ state: "failed", reason: error.message });
    } finally {
      for (const image of moved) this.#pulled.delete(image);
    }
  }

  /** Asks, and pulls what is newer. */
  async #find(
    { service, spec, images, dryRun }: { service: ServiceRecord; spec: ContainerSpec; images: RevisionImages; dryRun: boolean },
    answers: Map<string, Promise<string>>,
  ): Promise<Found> {
    const { image: reference } = spec;
    const from = (reference === undefined ? undefined : images[reference]?.digest) ?? null;
    const view: AutoUpdateView = {
      ...{ group: service.group, name: service.name, container: spec.name, image: reference ?? null },
      ...{ from, to: null, state: "no", revision: null, reason: null },
    };
    const reason = stays(service, spec, from);
    if (reference === undefined || reason !== undefined) return { view: { ...view, reason: reason ?? null } };
    let to: string | null = null;
    try {
      to = await this.#ask(reference, spec.pullCredentials, answers);
      const left = (digest: string) => hasLeft(service, (number) => this.#recordOf(service, number), reference, digest);
      if (to === from) return { view: { ...view, to } };
      if (left(to)) return { view: { ...view, to, reason: ROLLED_BACK } };
      if (dryRun) return { view: { ...view, to, state: "pending" } };
      const image = await this.#pull(spec, reference);
      // The tag may have moved since the question.
      const { digest } = image;
      const isNewer = digest !== from && !left(digest);
      if (!isNewer) this.#pulled.delete(image);
      return isNewer ? { view: { ...view, to: digest }, image } : { view: { ...view, to: digest, reason: MOVED } };
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      return { view: { ...view, to, state: "failed", reason: error.message } };
    }
  }

  /** Each tag is asked for once. */
  #ask(reference: string, credentials: string | undefined, answers: Map<string, Promise<string>>): Promise<string> {
    const key = JSON.stringify([reference, credentials ?? null]);
    const { signal } = this.#controller;
    const answer =
      answers.get(key) ??
      this.#questions.during(signal, () => latestDigest(tagIn(reference)!, this.#options.credentials ?? {}, credentials, signal));
    answers.set(key, answer);
    return answer;
  }

  async #pull(spec: ContainerSpec, reference: string): Promise<ImageRecord> {
    const { images } = this.#options;
    const credentials = spec.pullCredentials === undefined ? {} : { credentials: spec.pullCredentials };
    const pin: Pin = await images.pull({ reference, policy: "always", signal: this.#controller.signal, ...credentials });
    const image: ImageRecord = { ...imageRecordOf(spec, pin, images), via: "cache" };
    this.#pulled.add(image);
    return image;
  }

  #recordOf({ group, name }: ServiceRecord, number: number): RevisionRecord | undefined {
    return this.#options.revisions.get(revisionKey({ group, service: name, number }));
  }

  /** With those that the replicas have, for a version that an earlier program has recorded. */
  #imagesNow(service: ServiceRecord): RevisionImages {
    const tasks = service.rollout.replicas.flatMap(({ task }) => (task === null ? [] : (this.#options.records.get(task) ?? [])));
    return imagesWith(this.#recordOf(service, service.rollout.to)?.images, tasks) ?? {};
  }

  /** Tasks that ask for updates and that are no replicas. */
  #withoutService(group: string | null): AutoUpdateView[] {
    const tasks = [...this.#options.records.values()].filter(
      (one) => (group === null || one.group === group) && !one.isDeleteAsked && one.run === undefined && replicaOf(one.spec) === undefined,
    );
    return tasks.flatMap((task) =>
      task.spec.containers.flatMap((spec): AutoUpdateView[] => {
        if (updatePolicy(spec) === false) return [];
        const from = task.containers.find(({ name }) => name === spec.name)?.image?.digest ?? null;
        const which = { group: task.group, name: task.name, container: spec.name, image: spec.image ?? null };
        return [{ ...which, from, to: null, state: "no", revision: null, reason: NO_UPDATE }];
      }),
    );
  }
}

/** Why the registry is not asked. undefined: it is. */
function stays({ rollout }: ServiceRecord, spec: ContainerSpec, from: string | null): string | undefined {
  const policy = updatePolicy(spec);
  if (policy === false) return "it does not ask for updates";
  if (policy !== true) return policy;
  if (spec.image === undefined) return "it has no image";
  if (tagIn(spec.image) === undefined) return "its image is no tag of a registry";
  if (spec.pullPolicy === "never") return "its pull policy is never";
  if (isActive(rollout)) return rollout.state === "paused" ? "the rollout of its service is paused" : "a rollout of its service goes on";
  return from === null ? "its image was not pulled yet" : undefined;
}
