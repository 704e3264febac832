/** Ports of the host that tasks need, and when two tasks cannot have theirs at the same time. Pure. */
import type { PortMapping } from "./schema/network.ts";
import type { TaskSpec } from "./schema/task.ts";

export interface PortClaim {
  /** Such as "8080/tcp". */
  readonly port: string;
  /** Address of the host; undefined: all of them. */
  readonly address: string | undefined;
  /** The service whose tasks share the port, such as "shop/web"; undefined: the task has it alone. */
  readonly service: string | undefined;
}

/** Such as "8080/tcp", without the address of the host. */
export function hostPortOf({ container, host = container, protocol }: Pick<PortMapping, "container" | "host" | "protocol">): string {
  return `${host}/${protocol}`;
}

/** @param group of the task: a service belongs to one */
export function portClaims({ ports, network }: Pick<TaskSpec, "ports" | "network">, group: string): readonly PortClaim[] {
  const own = ports.map(({ port, protocol }) => ({ port: `${port}/${protocol}`, address: undefined, service: undefined }));
  const mapped = (network?.ports ?? []).map((one) => ({
    port: hostPortOf(one),
    address: one.address,
    service: one.service && `${group}/${one.service.name}`,
  }));
  return [...own, ...mapped];
}

/** Whether two tasks cannot have these ports at the same time. */
export function collide(a: PortClaim, b: PortClaim): boolean {
  if (a.port !== b.port || !sharesAddress(a.address, b.address)) return false;
  return a.service === undefined || a.service !== b.service || a.address !== b.address;
}

/** Whether two mappings of one port are for one address of the host. */
export function sharesAddress(a: string | undefined, b: string | undefined): boolean {
  return a === b || [a, b].some((one) => one === undefined || one === "0.0.0.0");
}

/** Such as "127.0.0.1:8080/tcp". */
export function claimText({ port, address }: PortClaim): string {
  if (address === undefined) return port;
  return `${address.includes(":") ? `[${address}]` : address}:${port}`;
}
