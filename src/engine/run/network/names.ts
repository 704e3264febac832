/** Keeps the hosts files of tasks in named networks up to date, so that tasks find each other by name. */
import type { NetworkRecord, TaskRecord } from "../../model/index.ts";
import { type TaskNetworks, withoutPrefix } from "../../network/index.ts";
import type { Named } from "../../plan/index.ts";
import type { EngineLog } from "../log.ts";

interface Written {
  readonly network: NetworkRecord;
  readonly text: string;
}

export class NetworkNames {
  readonly #networks: TaskNetworks;
  readonly #log: EngineLog;
  /** What was last written, by task id. A task with another network record has a new file, which must be written again. */
  readonly #written = new Map<string, Written>();

  constructor(networks: TaskNetworks, log: EngineLog) {
    this.#networks = networks;
    this.#log = log;
  }

  /** Called after each transaction. */
  refresh(records: readonly TaskRecord[]): void {
    const named = records.filter(({ spec, network }) => spec.network?.name !== undefined && network);
    for (const id of this.#written.keys()) if (!named.some((one) => one.id === id)) this.#written.delete(id);
    for (const record of named)
      this.#write(
        record,
        named.filter((one) => one !== record),
      );
  }

  #write(record: TaskRecord, others: readonly TaskRecord[]): void {
    const { id, spec, network } = record;
    // If two tasks have the same name, the newer one comes first, because resolvers take the first match.
    const peers = others.toReversed().flatMap((one) => namesFor(record, one));
    const text = JSON.stringify(peers);
    const before = this.#written.get(id);
    if (before?.network === network && before?.text === text) return;
    try {
      this.#networks.writePeers(id, spec, network!.addresses, peers);
      this.#written.set(id, { network: network!, text });
    } catch (error) {
      this.#log("error", "names-not-written", { task: id, message: String(error) });
    }
  }
}

/** Addresses and names under which one task of a group finds another: one entry for each network that both are in. */
export function namesFor(
  record: Pick<TaskRecord, "group" | "spec">,
  other: Pick<TaskRecord, "group" | "name" | "spec" | "network">,
): readonly Named[] {
  const own = new Set(networksOf(record).map(({ id }) => id));
  return networksOf(other).flatMap(({ id, aliases = [] }, index) => {
    // Each network gives one address. Addresses are in the order of the networks (plan/network.ts).
    const address = other.network?.addresses[index];
    return own.has(id) && address !== undefined ? [{ address: withoutPrefix(address), names: [other.name, ...aliases] }] : [];
  });
}

/** The address at which a task reaches another task of its group: in a network that both are in, or, if neither names a network, on the default bridge. */
export function addressFor(
  record: Pick<TaskRecord, "group" | "spec">,
  other: Pick<TaskRecord, "group" | "name" | "spec" | "network">,
): string | undefined {
  if (record.group !== other.group) return undefined;
  if (record.spec.network?.name !== undefined) return namesFor(record, other)[0]?.address;
  const address = other.spec.network?.name === undefined ? other.network?.addresses[0] : undefined;
  return address && withoutPrefix(address);
}

interface NamedNetwork {
  /** The same for tasks that are in the same network. */
  readonly id: string;
  readonly aliases?: readonly string[] | undefined;
}

function networksOf({ group, spec: { network } }: Pick<TaskRecord, "group" | "spec">): readonly NamedNetwork[] {
  if (network?.name === undefined) return [];
  return [network, ...(network.further ?? [])].map(({ name, shared, aliases }) => ({ id: `${shared ? "" : group}.${name}`, aliases }));
}
