/** Polls for changes that no event reports. */
import type { Observation, TaskRecord } from "../model/index.ts";
import type { ContainerEnds } from "./containers/ends.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import type { EngineLog } from "./log.ts";
import type { Mailbox } from "./mailbox.ts";
import { type Missed, missedIn } from "./missed.ts";

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
