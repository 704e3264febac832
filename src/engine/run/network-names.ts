/** Tasks of one named network find each other by their names: each has the others in its hosts file, as they are now. */
import type { NetworkRecord, TaskRecord } from "../model/index.ts";
import { type TaskNetworks, withoutPrefix } from "../network/index.ts";
import type { Named } from "../plan/index.ts";
import type { EngineLog } from "./log.ts";

interface Written {
  readonly network: NetworkRecord;
  readonly text: string;
}

export class NetworkNames {
  readonly #networks: TaskNetworks;
  readonly #log: EngineLog;
  /** By id of the task; of another network record the file has been made anew. */
  readonly #written = new Map<string, Written>();

  constructor(networks: TaskNetworks, log: EngineLog) {
    this.#networks = networks;
    this.#log = log;
  }

  /** After each transaction. */
  refresh(records: readonly TaskRecord[]): void {
    const named = records.filter(({ spec, network }) => spec.network?.name !== undefined && network);
    for (const id of this.#written.keys()) if (!named.some((one) => one.id === id)) this.#written.delete(id);
    for (const record of named)
      this.#write(
        record,
        named.filter((one) => one !== record && one.group === record.group),
      );
  }

  #write(record: TaskRecord, others: readonly TaskRecord[]): void {
    const { id, spec, network } = record;
    // Of two with one name the newer comes first: that is the one a program takes.
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

/** How one task of a group finds another one: by its address in each network that both are in, with its names there. */
export function namesFor({ spec }: Pick<TaskRecord, "spec">, other: Pick<TaskRecord, "name" | "spec" | "network">): readonly Named[] {
  const own = new Set(networksOf(spec).map(({ name }) => name));
  return networksOf(other.spec).flatMap(({ name, aliases = [] }, index) => {
    // Each network gives one address, in the order of the networks (plan/network.ts).
    const address = other.network?.addresses[index];
    return own.has(name) && address !== undefined ? [{ address: withoutPrefix(address), names: [other.name, ...aliases] }] : [];
  });
}

/** Where one task reaches another one of its group: in a network that both are in, or, if neither names one, behind the bridge of all such. */
export function addressFor(
  record: Pick<TaskRecord, "group" | "spec">,
  other: Pick<TaskRecord, "group" | "name" | "spec" | "network">,
): string | undefined {
  if (record.group !== other.group) return undefined;
  if (record.spec.network?.name !== undefined) return namesFor(record, other)[0]?.address;
  const address = other.spec.network?.name === undefined ? other.network?.addresses[0] : undefined;
  return address && withoutPrefix(address);
}

function networksOf({
  network,
}: TaskRecord["spec"]): readonly { readonly name: string; readonly aliases?: readonly string[] | undefined }[] {
  return network?.name === undefined ? [] : [{ name: network.name, aliases: network.aliases }, ...(network.further ?? [])];
}
