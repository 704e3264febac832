/** Runs one health check or hook of a container: a command, a connection, or a wait. */
import { setTimeout as wait } from "node:timers/promises";
import { type Checked, probeGrpc, probeHttp, probeHttps, probeTcp } from "../health/index.ts";
import type { TaskRecord } from "../model/index.ts";
import type { HealthCheck, Hook } from "../spec/index.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import { type RelayOptions, relayOf } from "./network/relays.ts";

export interface CheckingOptions extends RelayOptions {
  readonly runtime: ContainerRuntime;
}

type Ways = Pick<HealthCheck, "command" | "http" | "tcp" | "grpc" | "timeout">;

export class Checking {
  readonly #options: CheckingOptions;

  constructor(options: CheckingOptions) {
    this.#options = options;
  }

  /** @throws as Executor.exec and Executor.spawn; PauseNotFoundError; the error of spawn(2) */
  async check(record: TaskRecord, runtimeId: string, { command, http, tcp, grpc, timeout }: Ways): Promise<Checked> {
    if (command !== undefined) return this.#options.runtime.check(runtimeId, command, timeout);
    const start = await relayOf(record, runtimeId, this.#options);
    if (start === undefined) return { isHealthy: false, output: "the container does not run" };
    const probe = { start, timeoutMs: timeout };
    if (http !== undefined) return http.tls ? probeHttps(http, probe) : probeHttp(http, probe);
    return grpc === undefined ? probeTcp(tcp!, probe) : probeGrpc(grpc, probe);
  }

  /** As with the kubelet, any response to the request of a hook is a success. @throws as check */
  async hook(record: TaskRecord, runtimeId: string, { sleep, commands, ...ways }: Hook): Promise<Checked> {
    if (sleep !== undefined) return this.#sleep(runtimeId, Math.min(sleep, ways.timeout));
    if (commands !== undefined) return this.#runAll(runtimeId, commands, ways.timeout);
    const checked = await this.check(record, runtimeId, ways);
    return ways.http === undefined ? checked : { ...checked, isHealthy: checked.status !== undefined };
  }

  /** One after the other, up to the first that fails. @param timeoutMs of all of them together */
  async #runAll(runtimeId: string, commands: NonNullable<Hook["commands"]>, timeoutMs: number): Promise<Checked> {
    const started = performance.now();
    let last: Checked = { isHealthy: true, output: "" };
    for (const { command, env, cwd, user } of commands) {
      const left = Math.ceil(timeoutMs - (performance.now() - started));
      if (left <= 0) return { isHealthy: false, output: `the commands have taken longer than ${timeoutMs} ms` };
      const place = { env, ...(cwd === undefined ? {} : { cwd }), ...(user === undefined ? {} : { user }) };
      last = await this.#options.runtime.check(runtimeId, command, left, place);
      if (!last.isHealthy) return last;
    }
    return last;
  }

  /** Waits until the time is over, or the container has ended. */
  async #sleep(runtimeId: string, ms: number): Promise<Checked> {
    const container = await this.#options.runtime.streams(runtimeId);
    const stop = new AbortController();
    const end = container.wait().then(() => ({ isHealthy: false, output: "the container has ended before the time was over" }));
    // Without `ref` the wait does not keep a program alive that uses the engine as a library.
    const slept = wait(ms, { isHealthy: true, output: "" }, { ref: false, signal: stop.signal });
    try {
      return await Promise.race([slept, end]);
    } finally {
      slept.catch(() => {});
      end.catch(() => {});
      stop.abort();
    }
  }
}
