/** When a service has returned to an earlier version, its tags name the images of this version again in the store, as `podman auto-update` does it. */
import type { Images } from "../images/index.ts";
import { type ImageRecord, type RevisionRecord, revisionKey, type ServiceRecord, type TaskRecord, versionsLeft } from "../model/index.ts";
import { replicaOf } from "../spec/index.ts";
import type { EngineLog } from "./log.ts";

export interface ReturnedTagsOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly services: ReadonlyMap<string, ServiceRecord>;
  readonly revisions: ReadonlyMap<string, RevisionRecord>;
  readonly shelf: Pick<Images["shelf"], "giveBack">;
  readonly log: EngineLog;
}

export class ReturnedTags {
  readonly #options: ReturnedTagsOptions;
  /** Rollouts that were looked at. A record never changes: each step of a rollout makes a new one. */
  readonly #seen = new WeakSet<ServiceRecord["rollout"]>();

  constructor(options: ReturnedTagsOptions) {
    this.#options = options;
  }

  /** Called after each change. A daemon that was killed before it has given a tag back is followed by one that does. */
  refresh(): void {
    for (const service of this.#options.services.values()) {
      if (this.#seen.has(service.rollout)) continue;
      this.#seen.add(service.rollout);
      const left = versionsLeft(service);
      if (left.length > 0) void this.#giveBack(service, left);
    }
  }

  async #giveBack(service: ServiceRecord, left: readonly number[]): Promise<void> {
    const { shelf, log } = this.#options;
    const { group, name, rollout } = service;
    for (const [reference, image] of Object.entries(this.#imagesOf(service, rollout.to))) {
      const digests = new Set(left.map((number) => this.#imagesOf(service, number)[reference]?.digest));
      // What a user has pulled after the return stays.
      const isMeant = (now: { readonly digest: string; readonly pulledMs: number }) =>
        digests.has(now.digest) && now.pulledMs <= (rollout.endedMs ?? 0) && !this.#isUsedByOthers(service, reference, now.digest);
      try {
        const before = await shelf.giveBack(reference, image, isMeant);
        if (before !== undefined) log("info", "tag-returned", { service: `${group}/${name}`, reference, digest: image.digest, before });
      } catch (error) {
        log("error", "tag-not-returned", { service: `${group}/${name}`, reference, message: String(error) });
      }
    }
  }

  #imagesOf({ group, name }: ServiceRecord, number: number): Readonly<Record<string, ImageRecord>> {
    return this.#options.revisions.get(revisionKey({ group, service: name, number }))?.images ?? {};
  }

  /** The image works for another service or task that names the same tag. */
  #isUsedByOthers({ group, name }: ServiceRecord, reference: string, digest: string): boolean {
    const { records, services } = this.#options;
    const isOwn = (one: TaskRecord) => one.group === group && replicaOf(one.spec)?.service === name;
    const runs = ({ containers }: TaskRecord) => containers.some(({ image }) => image?.reference === reference && image.digest === digest);
    if ([...records.values()].some((one) => !one.isDeleteAsked && !isOwn(one) && runs(one))) return true;
    const others = [...services.values()].filter((one) => one.group !== group || one.name !== name);
    return others.some((one) => this.#imagesOf(one, one.rollout.to)[reference]?.digest === digest);
  }
}
