/** Stops containers whose task is not known. Nothing is recorded about them: if the daemon is killed, the next one finds what is left. */
import type { EngineLog } from "../log.ts";
import { forgetTask, releaseIncarnation, type TaskResource } from "../resources/resource.ts";
import type { OrphanView } from "./orphans.ts";
import type { ContainerRuntime } from "./runtime.ts";

const GRACE_MS = 10_000;

export interface StraysOptions {
  readonly resources: readonly TaskResource[];
  readonly runtime: ContainerRuntime;
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
    const { log, resources } = this.#options;
    const own = containers.filter((one) => one.task === task);
    const ends = await Promise.allSettled(own.map(({ id }) => this.#stopContainer(task, id)));
    for (const [at, { id }] of own.entries()) {
      const end = ends[at]!;
      if (end.status === "fulfilled") log("info", "orphan-stopped", { id });
      else log("error", "orphan-not-stopped", { id, message: String(end.reason) });
    }
    if (task === null || ends.some(({ status }) => status === "rejected")) return;
    await forgetTask(resources, task, undefined).catch((error) => log("error", "orphan-not-removed", { task, message: String(error) }));
  }

  async #stopContainer(task: string | null, id: string): Promise<void> {
    const { runtime, resources } = this.#options;
    await runtime.stop(id, "SIGTERM", GRACE_MS);
    await runtime.remove(id);
    if (task !== null) await releaseIncarnation(resources, task, id);
  }
}
