/**
 * Rules of the host for ports that belong to services: a new connection goes to one of the tasks that serve, at random or by the address of its client, and is refused if
 * there is none. A connection that is there keeps its task, because the kernel asks the table nat only for the first packet. All rules are in chains of this engine, so that
 * one transaction takes the place of what was there before. Pure.
 */
import { withoutPrefix } from "../files.ts";
import type { Backend, ServicePort } from "./filter.ts";
import { chosenFor, PARTS, SEED } from "./parts.ts";

/** The rules of one table. */
export interface Section {
  readonly table: "filter" | "nat";
  readonly chains: readonly string[];
  /** Rules of the chains. */
  readonly rules: readonly string[];
  /** What leads to the chains, without the verb, as iptables-save(8) prints it. */
  readonly jumps: readonly string[];
}

/** @param key of this engine: 8 characters, because names of chains have at most 28 */
export function sectionsOf(key: string, ports: readonly ServicePort[]): readonly [filter: Section, nat: Section] {
  const [own, back] = [`RUNT-PORTS-${key}`, `RUNT-PORTS-BACK-${key}`];
  const comment = commentOf(`service ports of ${key}`);
  const backends = [...new Map(ports.flatMap(({ to }) => to.map((one) => [one.address, one] as const))).values()];
  return [
    {
      table: "filter",
      chains: [own],
      rules: ports.map((port) => `-A ${own} ${matchOf(port)} -m conntrack --ctstate NEW -j REJECT${answerOf(port)}`),
      jumps: [`INPUT ${comment} -j ${own}`],
    },
    {
      table: "nat",
      chains: [own, back],
      rules: [...ports.flatMap((port) => leading(own, port)), ...backends.flatMap((one) => returning(back, one))],
      jumps: [
        ...["PREROUTING", "OUTPUT"].map((from) => `${from} -m addrtype --dst-type LOCAL ${comment} -j ${own}`),
        `POSTROUTING -m conntrack --ctstate DNAT ${comment} -j ${back}`,
      ],
    },
  ];
}

function commentOf(text: string): string {
  return `-m comment --comment "runt: ${text}"`;
}

function matchOf({ host, protocol, address }: ServicePort): string {
  return `${address === undefined || address === "0.0.0.0" ? "" : `-d ${address}/32 `}-p ${protocol} -m ${protocol} --dport ${host}`;
}

/** Clients take the kernel's usual answer for a port without a listener. */
function answerOf({ protocol }: ServicePort): string {
  return protocol === "tcp" ? " --reject-with tcp-reset" : " --reject-with icmp-port-unreachable";
}

/** Source: iptables-extensions(8), statistic, cluster and DNAT. */
function leading(chain: string, port: ServicePort): string[] {
  const rule = ({ task, address, port: to }: Backend, match: string) =>
    `-A ${chain} ${matchOf(port)} ${match}${commentOf(task)} -j DNAT --to-destination ${withoutPrefix(address)}:${to}`;
  const { to } = port;
  if (port.sticky && to.length > 1)
    return Array.from({ length: PARTS }, (_, part) =>
      rule(chosenFor(part, to), `-m cluster --cluster-total-nodes ${PARTS} --cluster-local-node ${part + 1} --cluster-hash-seed ${SEED} `),
    );
  return to.map((one, index) => {
    const left = to.length - index;
    return rule(one, left === 1 ? "" : `-m statistic --mode random --probability ${(1 / left).toFixed(10)} `);
  });
}

/** The answer must come back through the host: to a neighbour, to the task itself, and to loopback of the host, it would go another way. */
function returning(chain: string, { task, address }: Backend): string[] {
  return [address, "127.0.0.0/8"].map(
    (source) => `-A ${chain} -s ${source} -d ${withoutPrefix(address)}/32 ${commentOf(task)} -j MASQUERADE`,
  );
}

/**
 * Lines for iptables-restore(8), which put a section in the place of what is there.
 * @param saved of iptables-save(8), any tables; undefined: the jumps are there
 */
export function written({ table, chains, rules, jumps }: Section, saved: string | undefined): string[] {
  if (rules.length === 0) return removed({ table, chains }, saved ?? "");
  const present = saved === undefined ? jumps.map((jump) => `-A ${jump}`) : jumpsTo(saved, table, chains);
  const extra = present.filter((line, index) => !jumps.includes(line.slice(3)) || present.indexOf(line) < index);
  const missing = jumps.filter((jump) => !present.includes(`-A ${jump}`));
  return [
    `*${table}`,
    ...chains.map((chain) => `:${chain} - [0:0]`),
    ...rules,
    ...extra.map((line) => `-D ${line.slice(3)}`),
    // Before what others have there, so that theirs do not lead these connections elsewhere.
    ...missing.map((jump) => `-I ${jump}`),
    "COMMIT",
  ];
}

function removed({ table, chains }: Pick<Section, "table" | "chains">, saved: string): string[] {
  const lines = linesOf(saved, table);
  const present = chains.filter((chain) => lines.some((line) => line.startsWith(`:${chain} `)));
  if (present.length === 0) return [];
  const jumps = jumpsTo(saved, table, chains).map((line) => `-D ${line.slice(3)}`);
  return [`*${table}`, ...jumps, ...present.map((chain) => `-F ${chain}`), ...present.map((chain) => `-X ${chain}`), "COMMIT"];
}

/** Whether somebody has removed or added something. The text of rules is not compared, because iptables prints it in another form. */
export function isWhole({ table, chains, rules, jumps }: Section, saved: string): boolean {
  const lines = linesOf(saved, table);
  const count = (all: readonly string[], chain: string) => all.filter((line) => line.startsWith(`-A ${chain} `)).length;
  const present = jumpsTo(saved, table, chains);
  const hasJumps = rules.length === 0 || (present.length === jumps.length && jumps.every((jump) => present.includes(`-A ${jump}`)));
  return hasJumps && chains.every((chain) => count(lines, chain) === count(rules, chain));
}

/** Ids of the tasks that rules of the engine with this key name. */
export function tasksIn(saved: string, key: string): string[] {
  const own = saved.split("\n").filter((line) => new RegExp(`^-A RUNT-PORTS-(BACK-)?${key} `).test(line));
  return own.flatMap((line) => / --comment "runt: ([^" ]+)" /.exec(line)?.[1] ?? []);
}

function jumpsTo(saved: string, table: string, chains: readonly string[]): string[] {
  return linesOf(saved, table).filter((line) => line.startsWith("-A ") && chains.some((chain) => line.endsWith(` -j ${chain}`)));
}

function linesOf(saved: string, table: string): string[] {
  const lines = saved.split("\n");
  const start = lines.indexOf(`*${table}`);
  if (start < 0) return [];
  return lines.slice(start + 1, lines.indexOf("COMMIT", start));
}
