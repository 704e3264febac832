/** Chooses ports of the host for mappings that leave the choice to the engine. Pure. */
import { createHash } from "node:crypto";
import { demandOf, type TaskRecord } from "../../model/index.ts";
import { hostPortOf, type PortMapping, type TaskSpec } from "../../spec/index.ts";
import { EngineError } from "../errors.ts";

/** A task that exists keeps its ports, so that it stays as it is. @throws EngineError no-room: all ports of a range are taken */
export function withPorts(specs: readonly TaskSpec[], group: string, tasks: readonly TaskRecord[]): readonly TaskSpec[] {
  const isOpen = ({ host, hostRange }: PortMapping) => host === undefined && hostRange !== undefined;
  if (!specs.some(({ network }) => network?.ports.some(isOpen))) return specs;
  const names = new Set(specs.map(({ name }) => name));
  const others = tasks.filter((task) => task.group !== group || !names.has(task.name));
  const taken = new Set(others.flatMap(({ spec }) => demandOf(spec).ports));
  for (const { network } of specs) for (const port of network?.ports ?? []) if (!isOpen(port)) taken.add(hostPortOf(port));
  return specs.map((spec) => {
    const { network, name, schedule } = spec;
    // The runs of a schedule have ports of their own.
    if (network === undefined || schedule !== undefined) return spec;
    const current = tasks.findLast((task) => task.group === group && task.name === name && !task.isDeleteAsked);
    const kept = current?.spec.network?.ports ?? [];
    const chosen = network.ports.map((port) => (isOpen(port) ? { ...port, host: chosenFor(port, { name, group, kept, taken }) } : port));
    return { ...spec, network: { ...network, ports: chosen } };
  });
}

interface Choice {
  readonly group: string;
  readonly name: string;
  /** Ports of the task that is replaced. */
  readonly kept: readonly PortMapping[];
  /** Such as "8080/tcp". The choice is added. */
  readonly taken: Set<string>;
}

function chosenFor(port: PortMapping, { group, name, kept, taken }: Choice): number {
  const [from, to] = port.hostRange!;
  const isFree = (host: number) => !taken.has(hostPortOf({ ...port, host }));
  const take = (host: number) => {
    taken.add(hostPortOf({ ...port, host }));
    return host;
  };
  const textOf = ({ host: _, ...one }: PortMapping) => JSON.stringify(Object.entries(one).sort());
  const before = kept.find((one) => textOf(one) === textOf(port) && one.host !== undefined && isFree(one.host));
  if (before !== undefined) return take(before.host!);
  // The search starts at a place that depends on the names, so that two engines of a host rarely choose the same one.
  const count = to - from + 1;
  const start = createHash("sha256").update(`${group}/${name}/${port.container}/${port.protocol}`).digest().readUInt32BE() % count;
  const first = from === to || count < 1024 ? 0 : start;
  for (let at = 0; at < count; at++) {
    const host = from + ((first + at) % count);
    if (isFree(host)) return take(host);
  }
  throw new EngineError("no-room", `task ${name} does not fit: the ports ${from} to ${to} of the host are taken`, { task: name });
}
