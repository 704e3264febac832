/** The root file systems that are made of images. */
import type { Images } from "../../images/index.ts";
import { imageOfContainer, specOf, type TaskRecord, taskIdOf } from "../../model/index.ts";
import { type Incarnation, imageVolumes } from "../../plan/index.ts";
import type { TaskUsers } from "../../users/index.ts";
import type { EngineLog } from "../log.ts";
import { isRootOfPool } from "../pools/root.ts";
import { type Contribution, isKnownTask, type Known, type TaskResource } from "./resource.ts";
import { usersOfTask } from "./users.ts";

export interface ImageRootsOptions {
  readonly images: Images;
  readonly users: TaskUsers;
  /** By id. */
  readonly pools: Pick<ReadonlySet<string>, "has">;
  readonly log: EngineLog;
}

/** Id of the root file system that is a volume of the task. That of a container has one part more. */
export function volumeRootId(task: string, volume: string): string {
  return `${task}.volume-${volume}`;
}

function isVolumeOf(known: Known, id: string): boolean {
  return id === volumeRootId(taskIdOf(id), id.slice(taskIdOf(id).length + ".volume-".length)) && isKnownTask(known, taskIdOf(id));
}

export class ImageRoots implements TaskResource {
  readonly name = "images";
  readonly #options: ImageRootsOptions;

  constructor(options: ImageRootsOptions) {
    this.#options = options;
  }

  /** @throws ImageError; the reason of `signal` */
  async prepare(record: TaskRecord, { container, runtimeId }: Incarnation, signal: AbortSignal): Promise<void> {
    const { images, users } = this.#options;
    const image = imageOfContainer(record, container);
    if (image === null) return;
    const spec = specOf(record, container)!;
    const volumes = imageVolumes(spec, images.config(image));
    await images.makeRoot(runtimeId, image, volumes, signal, { users: usersOfTask(users, record), bytes: spec.rootSize });
  }

  contribute(record: TaskRecord, { container, runtimeId }: Incarnation): Contribution {
    const { images, users } = this.#options;
    const image = imageOfContainer(record, container);
    if (image === null) return {};
    const config = images.config(image);
    const { rootfs, volumes } = images.rootOf(runtimeId, imageVolumes(specOf(record, container)!, config));
    return { image: { config, volumes, rootfs: record.users === undefined ? rootfs : users.root(record.id, runtimeId) } };
  }

  async release(_task: string, runtimeId: string): Promise<void> {
    await this.#options.images.releaseRoot(runtimeId);
  }

  async sweep(known: Known): Promise<readonly unknown[]> {
    const { images, pools } = this.#options;
    const strays = await images.sweep({ has: (id) => known.containers.has(id) || isVolumeOf(known, id) || isRootOfPool(pools, id) });
    if (strays.length > 0) this.#options.log("info", "roots-removed", { ids: strays.join(", ") });
    return [];
  }
}
