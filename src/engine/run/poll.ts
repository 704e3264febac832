/** Polls for changes that no event reports. */
import type { Observation, TaskRecord } from "../model/index.ts";
import type { ContainerEnds } from "./containers/ends.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";

/** A random part of each interval, so that several engines do not poll at the same moment. */
const JITTER = 0.1;

export interface PollOptions {
  readonly everyMs: number;
  readonly runtime: ContainerRuntime;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly mailbox: Mailbox;
  readonly ends: ContainerEnds;
  readonly log: EngineLog;
}

export class Poll {
  readonly #options: PollOptions;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(options: PollOptions) {
    this.#options = options;
  }

  /** Starts polling. The first poll comes after one interval; polls never overlap. */
  start(): void {
    if (this.#isStopped) return;
    const waitMs = this.#options.everyMs * (1 + JITTER * Math.random());
    this.#timer = setTimeout(() => void this.#look().then(() => this.start()), waitMs).unref();
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  async #look(): Promise<void> {
    const { runtime, records, ends, log } = this.#options;
    try {
      const before = [...records.values()];
      const found = await runtime.onDisk();
      const states = new Map([...found].map(([id, one]) => [id, one?.state]));
      for (const missed of missedIn(before, states)) {
        if (this.#isStopped) return;
        const { task, container, runtimeId, is } = missed;
        if (is !== "exited")
          await this.#observe(missed).catch((error) => log("error", "not-looked-at", { id: runtimeId, message: String(error) }));
        else {
          log("info", "missed", { task, container, is });
          await ends.report(runtimeId, found.get(runtimeId)!.process!);
        }
      }
    } catch (error) {
      log("error", "not-looked-at", { message: String(error) });
    }
  }

  /** Reports what is found. A container whose records are gone may run: one that does and can be acted on is told by whoever follows it. */
  async #observe({ task, container, generation, runtimeId, is }: Missed): Promise<void> {
    const { runtime, log, mailbox } = this.#options;
    const observation = is === "running" ? ({ state: is } as const) : await unusable(runtime, runtimeId);
    if (observation === undefined) return;
    log("info", "missed", { task, container, is: observation.state });
    mailbox.post(task, { type: "observed", container, generation, observation });
  }
}

async function unusable(runtime: ContainerRuntime, id: string): Promise<Observation | undefined> {
  const found = await runtime.examine(id);
  return found.state === "absent" || found.state === "lost" ? found : undefined;
}

/**
 * Finds changes that no event has reported, by comparing records with the containers on disk. Pure. `records` must be from before the disk was read: a container
 * that ran at that time stays on disk until its end is recorded.
 */
interface Missed {
  readonly task: string;
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  /** exited: the end of the container was missed. absent: its records are gone. lost: they are damaged. running: it was recorded as stopped, but runs. */
  readonly is: "exited" | "absent" | "lost" | "running";
}

/** @param entries what is on disk, by runtime id; undefined: the container is changing between the two states */
export function missedIn(
  records: readonly TaskRecord[],
  entries: ReadonlyMap<string, "running" | "exited" | "lost" | undefined>,
): Missed[] {
  return records.flatMap(({ id: task, containers }) =>
    containers.flatMap(({ name: container, generation, runtimeId, known, applied }): Missed[] => {
      // The result of the action in progress will tell.
      if (applied !== null) return [];
      const isThere = entries.has(runtimeId);
      const now = entries.get(runtimeId);
      const of = { task, container, generation, runtimeId };
      if (known === "STOPPED") return now === "running" ? [{ ...of, is: "running" }] : [];
      if (known !== "RUNNING" && known !== "RESOURCES_PROVISIONED") return [];
      if (!isThere) return [{ ...of, is: "absent" }];
      return now === "exited" || now === "lost" ? [{ ...of, is: now }] : [];
    }),
  );
}
