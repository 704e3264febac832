/** The step before a container is made: its inputs are checked, and its image is pulled. */
import { ImageError, type Images, type Pin, pullDecision } from "../images/index.ts";
import { type ActionError, type ImageRecord, specOf, type TaskRecord } from "../model/index.ts";
import { type Incarnation, imageProcess } from "../plan/index.ts";
import type { ContainerSpec, PullPolicy } from "../spec/index.ts";
import type { Launching } from "./launching.ts";

export interface PullingOptions {
  readonly images: Images;
  readonly launching: Launching;
  /** Of containers that say nothing. */
  readonly policy: PullPolicy;
}

/** A failure, and what it means (images/policy.ts). */
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

  constructor(options: PullingOptions) {
    this.#options = options;
  }

  /** undefined: the container has no image. @throws PullFailure; Error: what else is missing, by its path */
  async pull(record: TaskRecord, incarnation: Incarnation): Promise<ImageRecord | undefined> {
    const { launching, policy: ofHost } = this.#options;
    const spec = specOf(record, incarnation.container);
    launching.check(record, incarnation.container);
    if (spec?.image === undefined) return undefined;
    const policy = spec.pullPolicy ?? ofHost;
    try {
      return await this.#cancellable(record, incarnation, (signal) => this.#pull(record, spec, policy, signal));
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      throw new PullFailure(error, pullDecision(policy, false).failureStops);
    }
  }

  /** Pulls for containers that are to run no longer are ended. Called when something has changed. */
  cancelUnwanted(records: ReadonlyMap<string, TaskRecord>): void {
    for (const { task, incarnation, controller } of this.#inFlight.values()) {
      const found = records.get(task)?.containers.find(({ name }) => name === incarnation.container);
      if (found?.generation === incarnation.generation && found.desired === "RUNNING") continue;
      controller.abort(new ImageError("cancelled", "nobody wants it any more"));
    }
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
      ...(before === undefined ? {} : { pin: before satisfies Pin }),
    });
    const config = images.config(pin);
    if (imageProcess(spec, config) === undefined)
      throw new ImageError("image-invalid", `${pin.reference} names no program, and the task names no command`);
    return { ...pin, stopSignal: config.stopSignal, healthCheck: config.healthCheck };
  }
}
