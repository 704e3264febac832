/** Tasks of one named network find each other by their names: each has the others in its hosts file, as they are now. */
import type { NetworkRecord, TaskRecord } from "../model/index.ts";
import { type TaskNetworks, withoutPrefix } from "../network/index.ts";
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
        named.filter((one) => one !== record && isNeighbour(record, one)),
      );
  }

  #write({ id, spec, network }: TaskRecord, neighbours: readonly TaskRecord[]): void {
    // Of two with one name the newer comes first: that is the one a program takes.
    const peers = neighbours
      .toReversed()
      .flatMap((one) => one.network!.addresses.map((address) => ({ address: withoutPrefix(address), names: [one.name] })));
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

/** Both are behind one bridge. */
export function isNeighbour(a: TaskRecord, b: TaskRecord): boolean {
  return a.group === b.group && a.spec.network?.name === b.spec.network?.name;
}
