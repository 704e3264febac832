/** Reports the ends of containers to their tasks, and that the records of a container are lost. */
import type { ProcessState } from "../../../executor/index.ts";
import type { Observation, TaskRecord } from "../../model/index.ts";
import type { EngineLog } from "../log.ts";
import type { Mailbox } from "../mailbox.ts";
import { type ContainerRuntime, exitOf } from "./runtime.ts";

export interface ContainerEndsOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly mailbox: Mailbox;
  readonly runtime: ContainerRuntime;
  readonly log: EngineLog;
}

export class ContainerEnds {
  readonly #options: ContainerEndsOptions;

  constructor(options: ContainerEndsOptions) {
    this.#options = options;
  }

  /** Reports the end of this container from now on. Call it only after the container's start was posted, so that the events are in order. */
  follow(id: string): void {
    this.#options.runtime.follow(id, {
      onExit: (process) => void this.report(id, process),
      onLost: (error) => this.#reportLost(id, error),
    });
  }

  /** If the container that holds the shared namespaces is ending, its end is reported first, because it is the cause of this one. */
  async report(id: string, process: ProcessState): Promise<void> {
    const { records, runtime } = this.#options;
    const task = [...records.values()].find(({ containers }) => containers.some(({ runtimeId }) => runtimeId === id));
    const holder = task?.containers.find(({ type, known }) => type === "namespacePause" && known === "RUNNING");
    if (holder !== undefined && holder.runtimeId !== id) {
      const end = await runtime.endIfEnding(holder.runtimeId).catch(() => undefined);
      if (end !== undefined) this.#observe(holder.runtimeId, { state: "exited", exit: exitOf(end) });
    }
    this.#observe(id, { state: "exited", exit: exitOf(process) });
  }

  /** What is on disk of a container cannot be used any more: whoever applies this stops it. */
  #reportLost(id: string, error: unknown): void {
    this.#options.log("error", "container-unreadable", { id, message: String(error) });
    this.#observe(id, { state: "lost", message: error instanceof Error ? error.message : String(error) });
  }

  #observe(runtimeId: string, observation: Observation): void {
    const { records, mailbox } = this.#options;
    for (const record of records.values()) {
      const container = record.containers.find((one) => one.runtimeId === runtimeId);
      if (container !== undefined)
        mailbox.post(record.id, { type: "observed", container: container.name, generation: container.generation, observation });
    }
  }
}
