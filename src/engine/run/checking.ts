/** Runs one health check of a container: a command, HTTP or TCP. */
import { type Checked, type Probe, probeGrpc, probeHttp, probeHttps, probeTcp } from "../health/index.ts";
import type { TaskRecord } from "../model/index.ts";
import type { TaskNetworks } from "../network/index.ts";
import { locatePause } from "../pause/index.ts";
import type { HealthCheck } from "../spec/index.ts";
import type { ContainerRuntime } from "./containers/runtime.ts";
import { networkNamespaceOf } from "./network/namespace.ts";

export interface CheckingOptions {
  readonly runtime: ContainerRuntime;
  readonly networks: TaskNetworks;
}

export class Checking {
  readonly #options: CheckingOptions;

  constructor(options: CheckingOptions) {
    this.#options = options;
  }

  /** @throws as Executor.exec; PauseNotFoundError; the error of spawn(2) */
  async check(record: TaskRecord, runtimeId: string, { command, http, tcp, grpc, timeout }: HealthCheck): Promise<Checked> {
    if (command !== undefined) return this.#options.runtime.check(runtimeId, command, timeout);
    const namespace = await networkNamespaceOf(record, runtimeId, this.#options);
    if (namespace === undefined) return { isHealthy: false, output: "the container does not run" };
    const probe: Probe = { program: locatePause(this.#options.runtime.binary), namespace, timeoutMs: timeout };
    if (http !== undefined) return http.tls ? probeHttps(http, probe) : probeHttp(http, probe);
    return grpc === undefined ? probeTcp(tcp!, probe) : probeGrpc(grpc, probe);
  }
}
