/** Runs one health check or hook of a container: a command, a connection, or a wait. */
import { setTimeout as wait } from "node:timers/promises";
import { type Checked, type Probe, probeGrpc, probeHttp, probeHttps, probeTcp } from "../health/index.ts";
import type { TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { locatePause } from "../pause/index.ts";

import type { HealthCheck, Hook } from "../spec/index.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import { networkNamespaceOf } from "./network/namespace.ts";

export interface CheckingOptions {
  readonly runtime: ContainerRuntime;
  readonly networks: TaskNetworks;
}

type Ways = Pick<HealthCheck, "command" | "http" | "tcp" | "grpc" | "timeout">;

export class Checking {
  readonly #options: CheckingOptions;

  constructor(options: CheckingOptions) {
    this.#options = options;
  }

  /** @throws as Executor.exec; PauseNotFoundError; the error of spawn(2) */
  async check(record: TaskRecord, runtimeId: string, { command, http, tcp, grpc, timeout }: Ways): Promise<Checked> {
    if (command !== undefined) return this.#options.runtime.check(runtimeId, command, timeout);
    const namespace = await networkNamespaceOf(record, runtimeId, this.#options);
    if (namespace === undefined) return { isHealthy: false, output: "the container does not run" };
    const probe: Probe = { program: locatePause(this.#options.runtime.binary), namespace, timeoutMs: timeout };
    if (http !== undefined) return http.tls ? probeHttps(http, probe) : probeHttp(http, probe);
    return grpc === undefined ? probeTcp(tcp!, probe) : probeGrpc(grpc, probe);
  }

  /** As with the kubelet, any response to the request of a hook is a success. @throws as check */
  async hook(record: TaskRecord, runtimeId: string, { sleep, ...ways }: Hook): Promise<Checked> {
    if (sleep !== undefined) return this.#sleep(runtimeId, Math.min(sleep, ways.timeout));
    const checked = await this.check(record, runtimeId, ways);
    return ways.http === undefined ? checked : { ...checked, isHealthy: checked.status !== undefined };
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
