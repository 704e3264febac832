/** Translates the ports of a service. Source: Compose specification, "ports". */
import type { TaskInput } from "../../engine/spec/index.ts";
import type { ServicePlace } from "./place.ts";
import type { ServiceInput } from "./schema.ts";

type Mapping = NonNullable<NonNullable<TaskInput["network"]>["ports"]>[number];

/** [ADDRESS:][HOST[-HOST]:]CONTAINER[-CONTAINER][/PROTOCOL]. HOST may be empty after an address. */
const PORT =
  /^(?:(?:(\d+\.\d+\.\d+\.\d+|\[[0-9a-f:.]+\]|[0-9a-f]*:[0-9a-f:]*:[0-9a-f.]*):)?(\d+(?:-\d+)?)?:)?(\d+(?:-\d+)?)(?:\/(tcp|udp))?$/i;
const RANGE = /^(\d+)(?:-(\d+))?$/;
const MOST_PORT = 65_535;
/** Range from which the host chooses a port. Source: the dynamic ports of IANA, RFC 6335. */
const ANY: readonly [number, number] = [49_152, MOST_PORT];

interface Written {
  readonly address?: string | undefined;
  /** Empty: the host chooses a port. */
  readonly host: string;
  readonly container: string;
  readonly protocol: "tcp" | "udp";
}

export function portsOf({ ports = [], network_mode: mode }: ServiceInput, { refuse, warn }: ServicePlace): Mapping[] {
  const isWithout = mode === "host" || mode === "none";
  if (ports.length > 0 && mode === "none") refuse("with network_mode none there is nothing to publish", ["ports"]);
  if (ports.length > 0 && mode === "host") warn("has no effect with network_mode host: its ports are those of the host", ["ports"]);
  const seen = new Set<string>();
  const all = ports.flatMap((one, index): Mapping[] => {
    const written = typeof one === "object" ? fromLong(one) : fromShort(String(one));
    const found = written === undefined ? WRONG : mappingsOf(written);
    if (typeof found === "string") refuse(found, ["ports", index]);
    if (typeof found === "string" || isWithout) return [];
    // The same port may be written twice, as in "80:80" and "80:80/tcp".
    return found.filter((mapping) => {
      const text = JSON.stringify(mapping);
      return seen.size < seen.add(text).size;
    });
  });
  // Without an address a port is one of all addresses, so that nothing is to be added for all of one family.
  return all.filter(({ address, ...rest }) => !ANY_ADDRESS.includes(address ?? "") || !seen.has(JSON.stringify(rest)));
}

const ANY_ADDRESS = ["0.0.0.0", "::"];

const WRONG = 'write a port like "8080:80", "8000-8010:80-90" or "127.0.0.1:53:53/udp"';

function fromShort(text: string): Written | undefined {
  // An empty address, for example from a variable without a value, is ignored.
  const [, address, host = "", container, protocol = "tcp"] = PORT.exec(text.replace(/^:(?=[^:]*:)/, "")) ?? [];
  if (container === undefined) return undefined;
  return { address: address?.replace(/[[\]]/g, ""), host, container, protocol: protocol.toLowerCase() === "udp" ? "udp" : "tcp" };
}

function fromLong(one: Exclude<NonNullable<ServiceInput["ports"]>[number], string | number>): Written {
  const { target, published = "", protocol = "tcp", host_ip: address } = one;
  return { address: address === "" ? undefined : address, host: String(published), container: String(target), protocol };
}

/** Returns a string with the error if the ports do not fit. */
function mappingsOf({ address, host, container, protocol }: Written): Mapping[] | string {
  const inside = rangeOf(container);
  // As with Docker, the port 0 is one that the host chooses.
  const isAny = host === "" || /^0+$/.test(host);
  const outside = isAny ? ANY : rangeOf(host);
  if (inside === undefined || outside === undefined) return WRONG;
  const count = inside[1] - inside[0] + 1;
  const common = { protocol, ...(address === undefined ? {} : { address }) };
  const all = Array.from({ length: count }, (_, at) => inside[0] + at);
  if (!isAny && outside[1] - outside[0] + 1 === count)
    return all.map((port, at) => ({ container: port, host: outside[0] + at, ...common }));
  // For one port in the container, the host chooses one port of the range.
  if (!isAny && count > 1) return `${host} are not as many ports as ${container}`;
  return all.map((port) => ({ container: port, hostRange: [...outside] as [number, number], ...common }));
}

/** undefined: the text is no port or range of ports. */
function rangeOf(text: string): readonly [number, number] | undefined {
  const [, first, last = first] = RANGE.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return first !== undefined && from >= 1 && from <= to && to <= MOST_PORT ? [from, to] : undefined;
}

interface Replicas extends Pick<ServicePlace, "refuse"> {
  /** Of the service. */
  readonly name: string;
  readonly count: number;
}

/**
 * Containers of `deploy` share the ports of the host that the file names: those are the service's, as with Swarm. With `scale` each container has them, and Compose fails.
 * Sources: Docker, "Use Swarm mode routing mesh"; Compose specification, "endpoint_mode".
 */
export function withSharedPorts(
  task: TaskInput,
  { ports: given = [], scale, deploy }: ServiceInput,
  { name, count, refuse }: Replicas,
): TaskInput {
  const ports = task.network?.ports ?? [];
  const fixed = ports.find(({ host }) => host !== undefined);
  const isSurging = deploy?.update_config?.order === "start-first";
  const asksForOwn = scale !== undefined ? "scale" : deploy?.endpoint_mode === "dnsrr" ? "endpoint_mode: dnsrr" : modeOf(given);
  if (fixed === undefined || (count === 1 && !isSurging && deploy?.endpoint_mode !== "vip")) return task;
  if (asksForOwn !== undefined && count > 1)
    refuse(
      `${fixed.host} can be the port of one container, and the service has ${count} by ${asksForOwn}: write a range, or only deploy.replicas, whose containers share it`,
      ["ports"],
    );
  if (asksForOwn !== undefined) return task;
  const isOwn = ({ host, address = "" }: Mapping) => host === undefined || (count === 1 && address.includes(":"));
  return { ...task, network: { ...task.network, ports: ports.map((one) => (isOwn(one) ? one : { ...one, service: { name } })) } };
}

/** Of the long form: with `mode: host` each container has the port. */
function modeOf(given: NonNullable<ServiceInput["ports"]>): string | undefined {
  return given.some((one) => typeof one === "object" && one.mode === "host") ? "mode: host" : undefined;
}
