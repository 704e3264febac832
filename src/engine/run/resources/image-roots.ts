/** The root file systems that are made of images. */
import type { Images } from "../../images/index.ts";
import { imageOfContainer, specOf, type TaskRecord } from "../../model/index.ts";
import { type Incarnation, imageVolumes } from "../../plan/index.ts";
import type { TaskUsers } from "../../users/index.ts";
import type { EngineLog } from "../log.ts";
import type { Contribution, Known, TaskResource } from "./resource.ts";
import { usersOfTask } from "./users.ts";

export interface ImageRootsOptions {
  readonly images: Images;
  readonly users: TaskUsers;
  readonly log: EngineLog;
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
    const volumes = imageVolumes(specOf(record, container)!, images.config(image));
    await images.makeRoot(runtimeId, image, volumes, signal, usersOfTask(users, record));
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

  async sweep({ containers }: Known): Promise<readonly unknown[]> {
    const strays = await this.#options.images.sweep(containers);
    if (strays.length > 0) this.#options.log("info", "roots-removed", { ids: strays.join(", ") });
    return [];
  }
}
