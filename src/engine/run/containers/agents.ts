/**
 * Runs the agents of containers: further programs that a container's spec names in `agents`. An agent is started when its container runs, and
 * restarted with growing delays when it ends. Agents end together with the daemon that started them; the next daemon starts them again.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { type ExecHandle, ProgramError, type SpawnRequest } from "../../../executor/index.ts";
import type { AgentRecord, TaskRecord } from "../../model/index.ts";
import type { AgentSpec } from "../../spec/index.ts";
import type { Happening } from "../mailbox.ts";

/** A random part of each delay, so that the agents of many containers do not restart at the same moment. */
const JITTER = 0.1;

export interface AgentsOptions {
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly runtime: { spawn(runtimeId: string, request: SpawnRequest): Promise<Pick<ExecHandle, "pid" | "wait">> };
  readonly mailbox: { post(task: string, happening: Happening): void };
}

/** One agent of one incarnation of a container. */
interface Place {
  readonly task: string;
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
  readonly agent: AgentSpec;
  /** What an earlier daemon recorded of this agent; undefined if it was never started. */
  readonly before: AgentRecord | undefined;
}

export class Agents {
  readonly #options: AgentsOptions;
  /** Loops that keep an agent running, by runtime id and name of the agent. */
  readonly #kept = new Map<string, AbortController>();

  constructor(options: AgentsOptions) {
    this.#options = options;
  }

  /** Starts the agents of containers that run, and stops the loops of containers that do not. Called after each change. */
  refresh(): void {
    const wanted = new Map([...this.#options.records.values()].flatMap(placesIn));
    for (const [key, controller] of this.#kept) {
      if (wanted.has(key)) continue;
      controller.abort();
      this.#kept.delete(key);
    }
    for (const [key, place] of wanted) {
      if (this.#kept.has(key)) continue;
      const controller = new AbortController();
      this.#kept.set(key, controller);
      void this.#keep(place, controller.signal);
    }
  }

  stop(): void {
    for (const controller of this.#kept.values()) controller.abort();
  }

  /** Runs the agent again and again until it is not wanted any more. Gives up when it cannot be started at all. */
  async #keep({ agent, before, ...of }: Place, signal: AbortSignal): Promise<void> {
    const { command, env, cwd, user, backoff, name } = agent;
    const [cmd = "", ...args] = command;
    const tell = (is: Omit<AgentRecord, "name">) => {
      if (signal.aborted) return;
      const { task, container, generation } = of;
      this.#options.mailbox.post(task, { type: "agent", container, generation, agent: { name, ...is } });
    };
    let restarts = before === undefined ? 0 : before.restarts + 1;
    for (let shortRuns = 0; !signal.aborted; restarts++, shortRuns++) {
      const startedMs = performance.now();
      const optional = { ...(cwd === undefined ? {} : { cwd }), ...(user === undefined ? {} : { user }) };
      const { why, isFinal } = await this.#run(of.runtimeId, { cmd, args, env, ...optional }, (pid) =>
        tell({ known: "RUNNING", pid, restarts, reason: null }),
      );
      tell({ known: "STOPPED", pid: null, restarts, reason: why });
      if (isFinal) return;
      if (performance.now() - startedMs >= backoff.resetAfter) shortRuns = 0;
      const waitMs = Math.min(backoff.initial * 2 ** shortRuns, backoff.maximum) * (1 + JITTER * Math.random());
      await sleep(waitMs, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  /** Runs the agent once and returns why it ended. `isFinal`: another try would fail in the same way. */
  async #run(
    id: string,
    request: SpawnRequest,
    begun: (pid: number) => void,
  ): Promise<{ readonly why: string; readonly isFinal: boolean }> {
    try {
      const handle = await this.#options.runtime.spawn(id, { ...request, stdio: { stdin: "null", stdout: "null", stderr: "null" } });
      begun(handle.pid);
      const { exitCode } = await handle.wait();
      return { why: `it has ended with ${exitCode}`, isFinal: false };
    } catch (error) {
      return { why: (error as Error).message, isFinal: error instanceof ProgramError };
    }
  }
}

function placesIn({ id: task, desired, containers, spec }: TaskRecord): (readonly [string, Place])[] {
  if (desired !== "RUNNING") return [];
  return containers.flatMap((one) => {
    const { name: container, generation, runtimeId, known } = one;
    const isRunning = (known === "RUNNING" || known === "RESOURCES_PROVISIONED") && one.desired === "RUNNING" && !one.isRestartAsked;
    const asked = isRunning ? (spec.containers.find(({ name }) => name === container)?.agents ?? []) : [];
    return asked.map((agent) => {
      const before = one.agents?.find(({ name }) => name === agent.name);
      return [`${runtimeId} ${agent.name}`, { task, container, generation, runtimeId, agent, before }] as const;
    });
  });
}
