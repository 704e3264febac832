/** Prepares containers: checks their inputs, pulls their images, and makes their root file systems. Each step is cancelled when no task needs it any more. */
import { ImageError, type Images, type Pin, pullDecision } from "../images/index.ts";
import { type ActionError, type ImageRecord, specOf, type TaskRecord } from "../model/index.ts";
import { type Incarnation, imageProcess } from "../plan/index.ts";
import type { ContainerSpec, PullPolicy } from "../spec/index.ts";
import type { Launching } from "./containers/launching.ts";

export interface PullingOptions {
  readonly images: Images;
  readonly launching: Launching;
  /** Pull policy for containers that do not set one. */
  readonly policy: PullPolicy;
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

export class Pulling {
  readonly #options: PullingOptions;
  readonly #inFlight = new Map<
    string,
    { readonly task: string; readonly incarnation: Incarnation; readonly controller: AbortController }
  >();

  /** Images that were pulled but are not yet in the record of their container, by runtime id. */
  readonly #fresh = new Map<string, { readonly task: string; readonly container: string; readonly image: ImageRecord }>();

  constructor(options: PullingOptions) {
    this.#options = options;
  }

  /** Returns undefined if the container has no image. @throws PullFailure; Error: another input is missing; the message has its path */
  async pull(record: TaskRecord, incarnation: Incarnation): Promise<ImageRecord | undefined> {
    const { launching, policy: ofHost } = this.#options;
    const spec = specOf(record, incarnation.container);
    launching.check(record, incarnation.container);
    if (spec?.image === undefined) return undefined;
    const policy = spec.pullPolicy ?? ofHost;
    try {
      const image = await this.#cancellable(record, incarnation, (signal) => this.#pull(record, spec, policy, signal));
      this.#fresh.set(incarnation.runtimeId, { task: record.id, container: spec.name, image });
      return image;
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      throw new PullFailure(error, pullDecision(policy, false).failureStops);
    }
  }

  /** Makes the root file system of one incarnation, if the container has an image. @throws ImageError */
  async makeRoot(record: TaskRecord, incarnation: Incarnation): Promise<void> {
    await this.#cancellable(record, incarnation, (signal) => this.#options.launching.makeRoot(record, incarnation, signal));
  }

  /** Cancels the work for containers that are no longer to run. Called after each change. */
  cancelUnwanted(records: ReadonlyMap<string, TaskRecord>): void {
    for (const [id, { task, container }] of this.#fresh) {
      const found = records.get(task)?.containers.find(({ name }) => name === container);
      if (found?.runtimeId !== id || found.applied !== "PULLED") this.#fresh.delete(id);
    }
    for (const { task, incarnation, controller } of this.#inFlight.values()) {
      const found = records.get(task)?.containers.find(({ name }) => name === incarnation.container);
      if (found?.generation === incarnation.generation && found.desired === "RUNNING") continue;
      controller.abort(new ImageError("cancelled", "nobody wants it any more"));
    }
  }

  /** Images that were pulled but are not yet recorded. They must not be removed. */
  get fresh(): readonly ImageRecord[] {
    return [...this.#fresh.values()].map(({ image }) => image);
  }

  async #cancellable<T>(record: TaskRecord, incarnation: Incarnation, action: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#inFlight.set(incarnation.runtimeId, { task: record.id, incarnation, controller });
    try {
      return await action(controller.signal);
    } finally {
      this.#inFlight.delete(incarnation.runtimeId);
    }
  }

  async #pull(record: TaskRecord, spec: ContainerSpec, policy: PullPolicy, signal: AbortSignal): Promise<ImageRecord> {
    const { images } = this.#options;
    const before = record.containers.find(({ name }) => name === spec.name)?.image ?? undefined;
    const pin = await images.pull({
      reference: spec.image!,
      policy,
      signal,
      ...(spec.pullCredentials === undefined ? {} : { credentials: spec.pullCredentials }),
      ...(before === undefined ? {} : { pin: before satisfies Pin }),
    });
    const config = images.config(pin);
    if (imageProcess(spec, config) === undefined)
      throw new ImageError("image-invalid", `${pin.reference} names no program, and the task names no command`);
    return { ...pin, stopSignal: config.stopSignal, healthCheck: config.healthCheck };
  }
}
