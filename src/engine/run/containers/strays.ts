/** Stops containers whose task is not known. Nothing is recorded about them: if the daemon is killed, the next one finds what is left. */
import { isSlice, removeTaskCgroupsOf, removeTaskSlicesOf } from "../../cgroup/index.ts";
import type { Images } from "../../images/index.ts";
import type { TaskNetworks } from "../../network/index.ts";
import type { EngineLog } from "../log.ts";
import type { OrphanView } from "./orphans.ts";
import type { ContainerRuntime } from "./runtime.ts";

const GRACE_MS = 10_000;

export interface StraysOptions {
  readonly runtime: ContainerRuntime;
  readonly images: Images;
  readonly networks: TaskNetworks;
  /** Removes the files of a task that has no container any more. */
  readonly forget: (task: string) => void;
  readonly cgroupParent: string;
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
    const { log } = this.#options;
    const own = containers.filter((one) => one.task === task);
    const ends = await Promise.allSettled(own.map(({ id }) => this.#stopContainer(id)));
    for (const [at, { id }] of own.entries()) {
      const end = ends[at]!;
      if (end.status === "fulfilled") log("info", "orphan-stopped", { id });
      else log("error", "orphan-not-stopped", { id, message: String(end.reason) });
    }
    if (task === null || ends.some(({ status }) => status === "rejected")) return;
    await this.#removeRest(task).catch((error) => log("error", "orphan-not-removed", { task, message: String(error) }));
  }

  async #stopContainer(id: string): Promise<void> {
    const { runtime, images } = this.#options;
    await runtime.stop(id, "SIGTERM", GRACE_MS);
    await runtime.remove(id);
    await images.releaseRoot(id);
  }

  /** Removes what the task has besides its containers. */
  async #removeRest(task: string): Promise<void> {
    const { networks, cgroupParent, runtime, forget } = this.#options;
    await networks.release(task);
    if (isSlice(cgroupParent)) await removeTaskSlicesOf(runtime.binary, cgroupParent, task);
    else await removeTaskCgroupsOf(cgroupParent, task);
    forget(task);
  }
}
