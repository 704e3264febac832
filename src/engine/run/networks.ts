/** The port to networks, of an engine with these settings. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { NETWORK, type TaskRecord } from "../model/index.ts";
import { TaskNetworks, withoutPrefix } from "../network/index.ts";
import { bootId } from "./clock.ts";
import { Paths } from "./paths.ts";
import type { EngineSettings } from "./settings.ts";

/** The state directory is there. */
export function networksOf({ stateDir, namespaceDir, cniPath, networkTimeoutMs }: EngineSettings): TaskNetworks {
  const directory = new Paths(stateDir).network;
  return new TaskNetworks({
    directory,
    namespaces: namespaceDir ?? join(directory, "namespaces"),
    key: createHash("sha256").update(stateKey(stateDir)).digest("hex").slice(0, 8),
    bootId: bootId(),
    cniPath,
    timeoutMs: networkTimeoutMs,
  });
}

/** Remove what no task has: `records` are all that there are, and what is in `orphans` (ids of the runtime) runs without a record. Returns what went wrong. */
export async function tidyNetworks(
  networks: TaskNetworks,
  records: Iterable<TaskRecord>,
  orphans: readonly string[],
): Promise<readonly unknown[]> {
  const known = new Set([...records].filter(hasNetwork).map(({ id }) => id));
  return networks.tidy((id) => known.has(id) || orphans.some((one) => one.startsWith(`${id}.`)));
}

function hasNetwork({ resources }: TaskRecord): boolean {
  return resources.some(({ name, known }) => name === NETWORK && known !== "REMOVED");
}

/** Checks whether the networks of tasks are as they were made. Returns problems by the id of the task. */
export async function checkNetworks(networks: TaskNetworks, records: Iterable<TaskRecord>): Promise<ReadonlyMap<string, string>> {
  const broken = new Map<string, string>();
  for (const { id, resources } of [...records]) {
    const isThere = () => resources.some(({ name, known, applied }) => name === NETWORK && known === "CREATED" && applied === null);
    if (!isThere()) continue;
    await networks.check(id).catch((error: Error) => broken.set(id, error.message));
  }
  return broken;
}

/** Whose address it is; no name of a task has a dot or a colon. */
export function taskAt(records: readonly TaskRecord[], address: string): TaskRecord | undefined {
  return records.find(({ network }) => network?.addresses.some((one) => withoutPrefix(one) === address));
}

/** No other directory of this host has it. */
export function stateKey(stateDir: string): string {
  const { dev, ino } = statSync(stateDir, { bigint: true });
  return `${dev}-${ino}`;
}
