/** Connects the engine to the networks of its tasks. */
import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { join } from "node:path";
import { NETWORK, type TaskRecord } from "../../model/index.ts";
import { TaskNetworks, withoutPrefix } from "../../network/index.ts";
import { bootId } from "../clock.ts";
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
export async function checkNetworks(networks: TaskNetworks, records: Iterable<TaskRecord>): Promise<ReadonlyMap<string, string>> {
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
