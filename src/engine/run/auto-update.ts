/** Asks registries, or the store, for newer images of the tags that services run, and rolls these out. */
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
import { type ContainerSpec, parseReference, replicaOf, specDigest, updatePolicy } from "../spec/index.ts";
import type { Edits } from "./desired/edits.ts";
import type { Caller } from "./desired/journal.ts";
import { unknownService } from "./errors.ts";
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
  /** The digest that the registry, or the store, has for the tag; null: it was not asked, or has not answered. */
  readonly to: string | null;
  /** updating: a rollout has begun. pending: it would, without `dryRun`. no: it stays as it is. */
  readonly state: "updating" | "pending" | "no" | "failed";
  /** The revision to which the rollout leads; null: none has begun. */
  readonly revision: number | null;
  /** Why it stays, or has failed; null: there is nothing newer, or something newer. */
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
const HAS_IT = "its replicas have this image by now";
const NOT_IN_STORE = "the store has no image of this name";
const NO_UPDATE = "the task has no `update`, so that it could not return to the image that it has";

/** What is found out about a container. `image`: what it is to get. */
interface Found {
  readonly view: AutoUpdateView;
  readonly image?: ImageRecord;
}

/** A request whose turn it is. */
interface Turn {
  readonly request: AutoUpdateRequest;
  readonly by: Caller | undefined;
  /** Ends with the request, and with the engine. */
  readonly signal: AbortSignal;
  /** Of registries, by reference and credentials. */
  readonly answers: Map<string, Promise<string>>;
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
   * One view for each container that is to be updated, or that was named. What fails for one does not stop the others. Requests run one after the other.
   * @param ended ends the request: no further rollout begins. @throws EngineError unknown-service; the reason of `ended`, while it waits for its turn
   */
  async run(request: AutoUpdateRequest, by: Caller | undefined, ended: AbortSignal): Promise<readonly AutoUpdateView[]> {
    this.#asked(request);
    const signal = AbortSignal.any([this.#controller.signal, ended]);
    return this.#turn.during(signal, async () => {
      const turn: Turn = { request, by, signal, answers: new Map() };
      try {
        // Services may have changed while the request waited for its turn.
        const settled = await Promise.allSettled(this.#asked(request).map((service) => this.#update(service, turn)));
        const views = settled.flatMap((one) => {
          if (one.status === "rejected") throw one.reason;
          return one.value;
        });
        return [...views, ...(request.names === undefined ? this.#withoutService(request.group) : [])];
      } finally {
        this.#pulled.clear();
      }
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

  async #update(service: ServiceRecord, turn: Turn): Promise<AutoUpdateView[]> {
    const { names } = turn.request;
    const { group, name, rollout } = service;
    const spec = this.#recordOf(service, rollout.to)?.specs[0];
    const wanted = (spec?.containers ?? []).filter((one) => names !== undefined || updatePolicy(one) !== "none");
    const images = this.#imagesNow(service);
    const found = await Promise.all(wanted.map((one) => this.#find({ service, spec: one, images }, turn)));
    const views = found.map(({ view }) => view);
    const moved = found.flatMap(({ image }) => image ?? []);
    if (moved.length === 0 || spec === undefined) return views;
    const to = (change: Partial<AutoUpdateView>) =>
      found.map(({ view, image }): AutoUpdateView => (image === undefined ? view : { ...view, ...change }));
    if (views.some(({ state }) => state === "failed")) return to({ state: "no", reason: "another image of the service has failed" });
    try {
      turn.signal.throwIfAborted();
      const revision = await this.#options.edits.make(turn.by, ({ services }) => {
        const current = services.get({ group, name });
        if (current?.rollout.to !== rollout.to || isActive(current.rollout)) return null;
        const recordOf = services.recordsOf(current);
        const version = recordOf(rollout.to);
        // A service that was deleted and applied again begins with the same number.
        if (version?.specs[0] === undefined || specDigest(version.specs[0]) !== specDigest(spec)) return null;
        if (moved.some(({ reference, digest }) => hasLeft(current, recordOf, reference, digest))) return null;
        const now = { ...images, ...version.images, ...Object.fromEntries(moved.map((image) => [image.reference, image])) };
        return services.roll({ group, name, specs: version.specs, cause: "autoupdate", images: now });
      });
      if (revision === null) return to({ state: "no", reason: "the service was changed meanwhile" });
      // The engine begins no rollout to the version that is there.
      return revision === rollout.to ? to({ state: "no", reason: HAS_IT }) : to({ state: "updating", revision });
    } catch (error) {
      return to({ state: "failed", reason: this.#failure(error) });
    }
  }

  /** What a row says of an error. @throws the error, if the engine was closed */
  #failure(error: unknown): string {
    if (this.#controller.signal.aborted) throw error;
    return error instanceof Error ? error.message : String(error);
  }

  /** Asks, and pulls what is newer. */
  async #find(
    { service, spec, images }: { service: ServiceRecord; spec: ContainerSpec; images: RevisionImages },
    turn: Turn,
  ): Promise<Found> {
    const { image: reference } = spec;
    const from = (reference === undefined ? undefined : images[reference]?.digest) ?? null;
    const view: AutoUpdateView = {
      ...{ group: service.group, name: service.name, container: spec.name, image: reference ?? null },
      ...{ from, to: null, state: "no", revision: null, reason: null },
    };
    const reason = stays(service, spec, from);
    if (reference === undefined || reason !== undefined) return { view: { ...view, reason: reason ?? null } };
    const isLocal = updatePolicy(spec) === "local";
    let to: string | null = null;
    try {
      to = isLocal ? this.#inStore(reference) : await this.#ask(reference, spec.pullCredentials, turn);
      if (to === null) return { view: { ...view, reason: NOT_IN_STORE } };
      const left = (digest: string) => hasLeft(service, (number) => this.#recordOf(service, number), reference, digest);
      if (to === from) return { view: { ...view, to } };
      if (left(to)) return { view: { ...view, to, reason: ROLLED_BACK } };
      if (turn.request.dryRun) return { view: { ...view, to, state: "pending" } };
      const image = await this.#pull(spec, reference, isLocal ? "never" : "always", turn.signal);
      // The tag may have moved since the question.
      const { digest } = image;
      const isNewer = digest !== from && !left(digest);
      if (!isNewer) this.#pulled.delete(image);
      return isNewer ? { view: { ...view, to: digest }, image } : { view: { ...view, to: digest, reason: MOVED } };
    } catch (error) {
      return { view: { ...view, to, state: "failed", reason: this.#failure(error) } };
    }
  }

  /** Each tag is asked for once. */
  #ask(reference: string, credentials: string | undefined, { answers, signal }: Turn): Promise<string> {
    const key = JSON.stringify([reference, credentials ?? null]);
    const answer =
      answers.get(key) ??
      this.#questions.during(signal, () => latestDigest(tagIn(reference)!, this.#options.credentials ?? {}, credentials, signal));
    answers.set(key, answer);
    return answer;
  }

  /** The digest of the image that has the name in the store; null: none has it. @throws ImageError image-invalid */
  #inStore(reference: string): string | null {
    try {
      return this.#options.images.shelf.inspect(reference).digest;
    } catch (error) {
      if (error instanceof ImageError && error.code === "unknown-image") return null;
      throw error;
    }
  }

  async #pull(spec: ContainerSpec, reference: string, policy: "always" | "never", signal: AbortSignal): Promise<ImageRecord> {
    const { images } = this.#options;
    const credentials = spec.pullCredentials === undefined ? {} : { credentials: spec.pullCredentials };
    const pin: Pin = await images.pull({ reference, policy, signal, ...credentials });
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
        if (updatePolicy(spec) === "none") return [];
        const from = task.containers.find(({ name }) => name === spec.name)?.image?.digest ?? null;
        const which = { group: task.group, name: task.name, container: spec.name, image: spec.image ?? null };
        return [{ ...which, from, to: null, state: "no", revision: null, reason: NO_UPDATE }];
      }),
    );
  }
}

/** Why the registry, or the store, is not asked. undefined: it is. */
function stays({ rollout }: ServiceRecord, spec: ContainerSpec, from: string | null): string | undefined {
  const policy = updatePolicy(spec);
  if (policy === "none") return "it does not ask for updates";
  if (typeof policy === "object") return policy.unknown;
  if (spec.image === undefined) return "it has no image";
  if (parseReference(spec.image)?.digest !== undefined) return "its image is a digest, of which nothing is newer";
  if (policy === "registry" && tagIn(spec.image) === undefined) return "its image is no tag of a registry";
  if (policy === "registry" && spec.pullPolicy === "never") return "its pull policy is never";
  if (isActive(rollout)) return rollout.state === "paused" ? "the rollout of its service is paused" : "a rollout of its service goes on";
  return from === null ? "its image was not pulled yet" : undefined;
}
