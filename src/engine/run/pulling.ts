/** Pulls the images of containers. That, and what else takes long before a container is there, is cancelled when no task needs it any more. */
import { ImageError, type Images, type Pin, type Progress, pullDecision } from "../images/index.ts";
import { type ActionError, type ImageRecord, type PullPhase, type PullSize, specOf, type TaskRecord } from "../model/index.ts";
import { type Incarnation, imageProcess } from "../plan/index.ts";
import type { ContainerSpec, PullPolicy } from "../spec/index.ts";

export interface PullingOptions {
  readonly images: Images;
  readonly fresh: FreshImages;
  /** Pull policy for containers that do not set one. */
  readonly policy: PullPolicy;
  /** Tells how far the pull for a container is, as often as that changes. @param size of the image, if its source says it */
  readonly tell: (task: string, incarnation: Incarnation, phase: PullPhase, size: PullSize | undefined) => void;
}

/** A failed pull, and what it means for the task (images/policy.ts). */
export class PullFailure extends Error {
  override readonly name = "PullFailure";
  readonly stops: ActionError["stops"];

  constructor(cause: Error, stops: ActionError["stops"]) {
    super(cause.message, { cause });
    this.stops = stops;
  }
}

/** Images that were pulled but are not yet in the record of their container. They must not be removed. */
export class FreshImages {
  /** By runtime id. */
  readonly #images = new Map<string, { readonly task: string; readonly container: string; readonly image: ImageRecord }>();

  add({ id: task }: TaskRecord, { container, runtimeId }: Incarnation, image: ImageRecord): void {
    this.#images.set(runtimeId, { task, container, image });
  }

  /** Forgets those that are in their record, or that nobody wants. */
  drop(records: ReadonlyMap<string, TaskRecord>): void {
    for (const [id, { task, container }] of this.#images) {
      const found = records.get(task)?.containers.find(({ name }) => name === container);
      if (found?.runtimeId !== id || found.applied !== "PULLED") this.#images.delete(id);
    }
  }

  all(): readonly ImageRecord[] {
    return [...this.#images.values()].map(({ image }) => image);
  }
}

export class Pulling {
  readonly #options: PullingOptions;
  readonly #inFlight = new Map<
    string,
    { readonly task: string; readonly incarnation: Incarnation | undefined; readonly controller: AbortController }
  >();

  /** By runtime id. */
  readonly #progress = new Map<string, Progress>();

  constructor(options: PullingOptions) {
    this.#options = options;
  }

  /** Returns undefined if the container has no image. @throws PullFailure */
  async pull(record: TaskRecord, incarnation: Incarnation): Promise<ImageRecord | undefined> {
    const { fresh, policy: ofHost } = this.#options;
    const spec = specOf(record, incarnation.container);
    if (spec?.image === undefined) return undefined;
    const policy = spec.pullPolicy ?? ofHost;
    try {
      const image = await this.cancellable(record, incarnation, (signal) => this.#pull(record, incarnation, { spec, policy, signal }));
      fresh.add(record, incarnation, image);
      return image;
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      throw new PullFailure(error, pullDecision(policy, false).failureStops);
    }
  }

  /** How much of the image has come that is being pulled for an incarnation. undefined: nobody has said it yet, or none is being pulled. */
  progressOf(runtimeId: string): Progress | undefined {
    return this.#progress.get(runtimeId);
  }

  /** Cancels the work for containers that are no longer to run. Called after each change. */
  cancelUnwanted(records: ReadonlyMap<string, TaskRecord>): void {
    this.#options.fresh.drop(records);
    for (const { task, incarnation, controller } of this.#inFlight.values()) {
      const record = records.get(task);
      const found = record?.containers.find(({ name }) => name === incarnation?.container);
      if (incarnation === undefined && record?.desired === "RUNNING") continue;
      if (found !== undefined && found.generation === incarnation?.generation && found.desired === "RUNNING") continue;
      controller.abort(new ImageError("cancelled", "the request was cancelled"));
    }
  }

  /** @param action gets a signal that is aborted when the incarnation is not wanted any more. @throws what `action` throws */
  async cancellable<T>(record: TaskRecord, incarnation: Incarnation, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#inFlightAs(incarnation.runtimeId, { task: record.id, incarnation }, action);
  }

  /** The same for a member of the task's resources: until the task is not wanted any more. */
  async cancellableOf<T>(task: string, member: string, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return this.#inFlightAs(`${task} ${member}`, { task, incarnation: undefined }, action);
  }

  async #inFlightAs<T>(
    key: string,
    of: { readonly task: string; readonly incarnation: Incarnation | undefined },
    action: (signal: AbortSignal) => Promise<T>,
  ): Promise<T> {
    const controller = new AbortController();
    this.#inFlight.set(key, { ...of, controller });
    try {
      return await action(controller.signal);
    } finally {
      this.#inFlight.delete(key);
    }
  }

  async #pull(
    record: TaskRecord,
    incarnation: Incarnation,
    { spec, policy, signal }: Readonly<{ spec: ContainerSpec; policy: PullPolicy; signal: AbortSignal }>,
  ): Promise<ImageRecord> {
    const { images, tell } = this.#options;
    const { runtimeId } = incarnation;
    let phase: PullPhase | undefined;
    const enter = (next: PullPhase) => {
      if (phase !== next) tell(record.id, incarnation, next, sizeIn(this.#progress.get(runtimeId)));
      phase = next;
    };
    const before = record.containers.find(({ name }) => name === spec.name)?.image ?? undefined;
    const pulled = images.pull({
      reference: spec.image!,
      policy,
      signal,
      onProgress: (progress) => {
        this.#progress.set(runtimeId, progress);
        // What comes while another image unpacks the same layers is no step back.
        if (phase === undefined) enter("pulling");
      },
      onUnpack: () => enter("unpacking"),
      ...(spec.pullCredentials === undefined ? {} : { credentials: spec.pullCredentials }),
      ...(before === undefined ? {} : { pin: before satisfies Pin }),
    });
    const pin = await pulled.finally(() => this.#progress.delete(runtimeId));
    return imageRecordOf(spec, pin, images);
  }
}

/** What the record of a container keeps of its image. @throws ImageError image-invalid: nothing says what it would run */
export function imageRecordOf(spec: ContainerSpec, pin: Pin, images: Pick<Images, "config">): ImageRecord {
  const config = images.config(pin);
  if (imageProcess(spec, config) === undefined)
    throw new ImageError("image-invalid", `${pin.reference} names no program, and the task names no command`);
  return { ...pin, stopSignal: config.stopSignal, healthCheck: config.healthCheck };
}

function sizeIn(progress: Progress | undefined): PullSize | undefined {
  const { total = null, layers = null } = progress ?? {};
  return total === null || layers === null ? undefined : { layers: layers.total, bytes: total };
}
