/** Ports of the host that belong to services: they lead to those tasks that serve now. */
import type { TaskRecord } from "../../model/index.ts";
import type { Backend, ServicePort, TaskNetworks } from "../../network/index.ts";
import type { PortMapping } from "../../spec/index.ts";
import type { EngineLog } from "../log.ts";
import { isServing } from "./services.ts";
import { Upkeep } from "./upkeep.ts";

/** Of all services, in an order that does not depend on that of the records. A service has its ports as long as a task of it has a network. Pure. @param held ids of tasks that get no connections (heldBack) */
export function servicePortsOf(records: readonly TaskRecord[], held: ReadonlySet<string> = new Set()): readonly ServicePort[] {
  const found = new Map<string, ServicePort & { readonly to: Backend[] }>();
  for (const record of records) {
    const shared = record.network ? record.spec.network?.ports.filter(({ service }) => service !== undefined) : undefined;
    if (shared === undefined || shared.length === 0) continue;
    const isReady = isServing(record) && !held.has(record.id);
    for (const port of shared) {
      const { container, host = container, protocol, address } = port;
      const service = port.service!;
      const key = JSON.stringify([host, protocol, address ?? "", record.group, service.name]);
      // While a task is replaced the newer one says what the service is.
      const to = found.get(key)?.to ?? [];
      found.set(key, { host, protocol, address, sticky: service.sticky === true, to });
      if (isReady || service.unready === true) to.push(...backendsOf(record, port));
    }
  }
  // A port of one address comes before the same port of all addresses.
  const sorted = [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => ({ ...one, to: one.to.toSorted(byTask) }));
  return sorted.toSorted((a, b) => Number(a.address === undefined) - Number(b.address === undefined));
}

function byTask(a: Backend, b: Backend): number {
  return a.task < b.task ? -1 : 1;
}

function backendsOf({ id, network }: TaskRecord, { container }: PortMapping): Backend[] {
  const address = network?.addresses.find((one) => !one.includes(":"));
  return address === undefined ? [] : [{ task: id, address, port: container }];
}

/** All ports are one entry, because one transaction writes them. */
const ALL = "all";

export class HostPorts {
  readonly #rules: Upkeep<readonly ServicePort[]>;

  constructor(ports: Pick<TaskNetworks["servicePorts"], "set">, log: EngineLog) {
    this.#rules = new Upkeep({
      isSame: (a, b) => JSON.stringify(a) === JSON.stringify(b),
      set: (_, asked) => ports.set(asked),
      onFailed: (_, error) => log("error", "service-ports-not-set", { message: String(error) }),
    });
  }

  /** Called after each transaction. On a host whose services have no ports no program is called. */
  refresh(records: readonly TaskRecord[], held: ReadonlySet<string>): void {
    const ports = servicePortsOf(records, held);
    if (ports.length > 0 || this.#rules.of(ALL) !== undefined) this.#rules.ask(ALL, ports);
  }

  /** Resolves when the rules are those of the last `refresh`, or could not be set. */
  settled(): Promise<void> {
    return this.#rules.settled();
  }
}
