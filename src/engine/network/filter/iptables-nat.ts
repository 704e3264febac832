/**
 * Rules of the host that lead from a task behind a bridge to the world, and from ports of the host to the task: what the option ipMasq of the plugin bridge and the
 * plugin portmap would make, but all of them by one program in one transaction. Rules and chains bear the comment of the plugins, so that iptables-saved.ts finds them. Pure.
 */
import { createHash } from "node:crypto";
import type { PortForward } from "../../plan/index.ts";
import type { TaskWays } from "./filter.ts";

/** The limit of the match multiport. */
const PORTS_OF_RULE = 15;

/** Lines for iptables-restore(8), table nat. @param id of the task */
export function natRules({ network: name, range, ports }: TaskWays, id: string): string[] {
  const own = { range, address: range.split("/")[0]!, key: createHash("sha256").update(`${name} ${id}`).digest("hex") };
  const comment = (kind: string) => `-m comment --comment "${kind}name: \\"${name}\\" id: \\"${id}\\""`;
  return [...wayOut(own, comment("")), ...(ports.length === 0 ? [] : waysIn(own, ports, comment))];
}

interface Own {
  /** Such as "10.64.0.2/20". */
  readonly range: string;
  readonly address: string;
  readonly key: string;
}

function wayOut({ range, address, key }: Own, comment: string): string[] {
  const chain = `CNI-${key.slice(0, 24)}`;
  return [
    `:${chain} - [0:0]`,
    `-A ${chain} -d ${range} ${comment} -j ACCEPT`,
    `-A ${chain} ! -d 224.0.0.0/4 ${comment} -j MASQUERADE`,
    `-A POSTROUTING -s ${address} ${comment} -j ${chain}`,
  ];
}

function waysIn({ range, address, key }: Own, ports: readonly PortForward[], comment: (kind: string) => string): string[] {
  const chain = `CNI-DN-${key.slice(0, 21)}`;
  const groups = (["tcp", "udp"] as const).flatMap((protocol) => {
    const hosts = [...new Set(ports.filter((one) => one.protocol === protocol).map(({ host }) => host))];
    const count = Math.ceil(hosts.length / PORTS_OF_RULE);
    return Array.from({ length: count }, (_, at) => ({ protocol, hosts: hosts.slice(at * PORTS_OF_RULE, (at + 1) * PORTS_OF_RULE) }));
  });
  return [
    `:${chain} - [0:0]`,
    ...ports.map(({ host, container, protocol, address: of }) => {
      const destination = of === undefined || of === "0.0.0.0" ? "" : `-d ${of} `;
      return `-A ${chain} -p ${protocol} ${destination}--dport ${host} ${comment("dnat ")} -j DNAT --to-destination ${address}:${container}`;
    }),
    ...["PREROUTING", "OUTPUT"].flatMap((from) =>
      groups.map(
        ({ protocol, hosts }) =>
          `-A ${from} -p ${protocol} -m addrtype --dst-type LOCAL -m multiport --dports ${hosts.join(",")} ${comment("dnat ")} -j ${chain}`,
      ),
    ),
    // The answer must come back through the host: to a neighbour, to the task itself, and to loopback of the host, it would go another way. Before the rules of neighbours.
    ...[range, "127.0.0.0/8"].map(
      (source) => `-I POSTROUTING -s ${source} -d ${address} -m conntrack --ctstate DNAT ${comment("dnat ")} -j MASQUERADE`,
    ),
  ];
}

/** What takes the rules away again, in the same form. */
export function natRemoval(lines: readonly string[]): string[] {
  const chains = lines.flatMap((line) => /^:(\S+)/.exec(line)?.[1] ?? []);
  const jumps = lines.filter((line) => !line.startsWith(":") && !chains.includes(line.split(" ")[1]!));
  return [...jumps.map((line) => `-D ${line.slice(3)}`), ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
}

/** How many rules there are, by chain and comment. */
export type Counted = ReadonlyMap<string, number>;

/** @param lines of iptables-save(8), or for iptables-restore(8) */
export function countRules(lines: readonly string[]): Counted {
  const found = new Map<string, number>();
  for (const line of lines) {
    const [, chain, comment] = /^-[AI] (\S+) .*--comment "((?:[^"\\]|\\.)*)" /.exec(line) ?? [];
    if (chain !== undefined) found.set(`${chain} ${comment}`, (found.get(`${chain} ${comment}`) ?? 0) + 1);
  }
  return found;
}

/** The first chain in which rules are missing. Their text is not compared, because iptables prints it in another form. */
export function incompleteChain(present: Counted, lines: readonly string[]): string | undefined {
  const missing = [...countRules(lines)].find(([key, count]) => (present.get(key) ?? 0) < count);
  return missing?.[0].split(" ")[0];
}
