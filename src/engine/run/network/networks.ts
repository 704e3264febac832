/** Connects the engine to the networks of its tasks. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { NETWORK, type TaskRecord } from "../../model/index.ts";
import { TaskNetworks, withoutPrefix } from "../../network/index.ts";
import { bootId, Repeating } from "../clock.ts";
import type { Conditions } from "../conditions.ts";
import { Paths } from "../paths.ts";
import type { EngineSettings } from "../settings.ts";

/** @param settings their state directory must exist */
export function networksOf({ stateDir, namespaceDir, cniPath, networkTimeoutMs }: EngineSettings): TaskNetworks {
  const directory = new Paths(stateDir).network;
  return new TaskNetworks({
    directory,
    namespaces: namespaceDir ?? join(directory, "namespaces"),
    key: shortKey(stateDir),
    bootId: bootId(),
    cniPath,
    timeoutMs: networkTimeoutMs,
  });
}

/** Checks that the networks of tasks are as they were made. Returns a problem by task id. */
async function checkNetworks(networks: TaskNetworks, records: Iterable<TaskRecord>): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>();
  for (const { id, resources } of [...records]) {
    const isThere = () => resources.some(({ name, known, applied }) => name === NETWORK && known === "CREATED" && applied === null);
    if (!isThere()) continue;
    await networks.check(id).catch((error: Error) => broken.set(id, error.message));
  }
  return broken;
}

/** Finds the task that has an address. No task name contains a dot or a colon, so that names and addresses cannot be mistaken. */
export function taskAt(records: readonly TaskRecord[], address: string): TaskRecord | undefined {
  return records.find(({ network }) => network?.addresses.some((one) => withoutPrefix(one) === address));
}

/** Part of names on the host that no other engine gives. */
export function shortKey(stateDir: string): string {
  return createHash("sha256").update(stateKey(stateDir)).digest("hex").slice(0, 8);
}

/** A key that no other state directory of this host has. */
export function stateKey(stateDir: string): string {
  const { dev, ino } = statSync(stateDir, { bigint: true });
  return `${dev}-${ino}`;
}

/** Checks the networks of tasks at intervals. Damage by other programs is reported as a condition of the host. */
const INTERVAL_MS = 60_000;

interface NetworkWatchOptions {
  readonly networks: TaskNetworks;
  readonly conditions: Conditions;
  readonly records: ReadonlyMap<string, TaskRecord>;
  readonly intervalMs: number | undefined;
}

export class NetworkWatch {
  readonly #options: NetworkWatchOptions;
  readonly #repeating: Repeating;

  constructor(options: NetworkWatchOptions) {
    this.#options = options;
    this.#repeating = new Repeating(options.intervalMs ?? INTERVAL_MS, () => this.#look());
  }

  stop(): void {
    this.#repeating.stop();
  }

  async #look(): Promise<void> {
    const { networks, conditions, records } = this.#options;
    const broken = await checkNetworks(networks, records.values());
    // A network that was removed during the check is not damaged.
    const lasting = [...broken].filter(([id]) => records.get(id)?.network);
    conditions.set("NetworkBroken", lasting.map(([id, message]) => `${id}: ${message}`).join("; "));
  }
}
