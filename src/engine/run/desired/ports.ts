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
  const taken = new Set(others.flatMap((task) => demandOf(task).ports.map(({ port }) => port)));
  for (const { network } of specs) for (const port of network?.ports ?? []) if (!isOpen(port)) taken.add(hostPortOf(port));
  const ofServices = servicePorts(tasks.filter((task) => task.group === group && !task.isDeleteAsked));
  return specs.map((spec) => {
    const { network, name, schedule } = spec;
    // The runs of a schedule have ports of their own.
    if (network === undefined || schedule !== undefined) return spec;
    const current = tasks.findLast((task) => task.group === group && task.name === name && !task.isDeleteAsked);
    const kept = current?.spec.network?.ports ?? [];
    const chosen = network.ports.map((port, at) => {
      if (!isOpen(port)) return port;
      const key = serviceKey(network.ports, at);
      const host = (key === undefined ? undefined : ofServices.get(key)) ?? chosenFor(port, { name, group, kept, taken });
      if (key !== undefined) ofServices.set(key, host);
      return { ...port, host };
    });
    return { ...spec, network: { ...network, ports: chosen } };
  });
}

/** All tasks of a service get the same port: the one that a task of it has already, if it is still in the range. */
function servicePorts(tasks: readonly TaskRecord[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const { spec } of tasks)
    for (const [at, { host }] of (spec.network?.ports ?? []).entries()) {
      const key = serviceKey(spec.network!.ports, at);
      if (key !== undefined && host !== undefined) found.set(key, host);
    }
  return found;
}

/** The same for all tasks of a service, whose own ports may differ. undefined: the port is that of one task. */
function serviceKey(ports: readonly PortMapping[], at: number): string | undefined {
  const { service, hostRange, protocol, address } = ports[at]!;
  if (service === undefined || hostRange === undefined) return undefined;
  const place = ports.slice(0, at).filter((one) => one.service?.name === service.name).length;
  return JSON.stringify([service.name, place, hostRange, protocol, address]);
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
