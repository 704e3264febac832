/**
 * Rules in the namespace of a task, for nft(8). Each kind has a table of its own. Its chains stay, and their rules are replaced in one transaction: a packet that is in a chain meanwhile
 * passes through the rules of before or through those of after. Services have rules and no map, because the kernel looks for elements of a map in its newest state also for a packet that
 * is passing through the older rules, which would find nothing: a connection that begins without NAT stays without it. Pure. Source: nft(8), nft_do_chain of the kernel.
 */
import { RESOLVER_ADDRESS, RESOLVER_PORT, type ReachedService, type TaskRules, TRANSPARENT_MARK } from "../../plan/index.ts";
import { asMatched, type InsideRules } from "./inside.ts";

const LOOPBACK = "127.0.0.0/8";
/** The table for services. */
export const SERVICE_TABLE = "ip runt-services";
const TASK_TABLE = "ip runt-task";

interface Chain {
  readonly name: string;
  readonly rules: readonly string[];
  /** Type, hook and priority. Absent: other chains go to it. */
  readonly hook?: string;
}

/**
 * Priorities: the kernel asks the chains of NAT in this order until one decides, and those of iptables, at -100, after them. What is for the proxy comes before services: a proxy sees to which
 * service a connection was made, and reaches services itself.
 */
const NAT_OUTPUT = {
  resolver: "nat hook output priority -107",
  task: "nat hook output priority -106",
  services: "nat hook output priority -105",
};

/** All that the kernel must know for most tasks, and none of it anybody's. A kernel may lack what transparent proxies need: only their tasks cannot start there. */
export function insideProbe(): string[] {
  const [host, to] = ["192.0.2.1", ["192.0.2.2:80", "192.0.2.3:80"]];
  const egress = { user: 0, port: 1, addresses: [], ignored: [] };
  return [
    resolver(host),
    task({ redirects: [{ port: 1, to: 2, protocol: "tcp" }], egress, ingress: { port: 1, ports: [2] } }),
    services([{ address: host, ports: [{ port: 1, protocol: "udp", to }] }]),
  ].flatMap((text) => text.trimEnd().split("\n"));
}

export const INSIDE_NFT: InsideRules = { program: ["nft", "-f", "-"], resolver, task, services };

function resolver(host: string): string {
  const asked = (port: number) => `meta l4proto { tcp, udp } th dport ${port}`;
  return linesOf("ip runt-resolver", [
    {
      name: "loopback",
      hook: "filter hook prerouting priority -300",
      rules: ["saddr", "daddr"].map((end) => `iifname != lo ip ${end} ${LOOPBACK} counter drop`),
    },
    { name: "output", hook: NAT_OUTPUT.resolver, rules: [`ip daddr ${RESOLVER_ADDRESS} ${asked(53)} dnat ip to ${host}:${RESOLVER_PORT}`] },
    {
      name: "postrouting",
      hook: "nat hook postrouting priority 95",
      rules: [`ip saddr ${LOOPBACK} ip daddr ${host} ${asked(RESOLVER_PORT)} masquerade`],
    },
  ]);
}

function redirected({ redirects }: TaskRules, elsewhere: string): string[] {
  return redirects.map(({ port, to, protocol }) => {
    return `meta l4proto ${protocol} th dport ${port} ${elsewhere}fib daddr type local redirect to :${to}`;
  });
}

/** For what the task sends. */
function taskOutput(rules: TaskRules): Chain {
  const isTcp = "meta l4proto tcp";
  const own = (found: NonNullable<TaskRules["egress"]>) => [
    `${isTcp} meta skuid ${found.user} return`,
    ...[...found.ignored, ...(found.addresses.length === 0 ? [LOOPBACK] : [])].map(
      (range) => `${isTcp} ip daddr ${asMatched(range)} return`,
    ),
    ...(found.addresses.length === 0 ? [""] : found.addresses.map((range) => `ip daddr ${asMatched(range)} `)).map(
      (match) => `${isTcp} ${match}redirect to :${found.port}`,
    ),
  ];
  const { egress } = rules;
  return {
    name: "output",
    hook: NAT_OUTPUT.task,
    rules: [...redirected(rules, `ip daddr != ${LOOPBACK} `), ...(egress === undefined ? [] : own(egress))],
  };
}

/**
 * What comes before services, of a task whose rules perhaps another program has written: with priority -100, after the services of nft, so that connections to services would go past its proxy.
 * Other chains of the table stay as they are, and rules of the other program, which say the same, come too late to decide. May be repeated.
 */
export function beforeServices(rules: TaskRules | undefined): string {
  const chain = rules === undefined ? undefined : taskOutput(rules);
  return chain === undefined || chain.rules.length === 0 ? "" : linesOf(TASK_TABLE, [chain], chain.name);
}

function task(rules: TaskRules): string {
  const { ingress, transparent } = rules;
  const isTcp = "meta l4proto tcp";
  const passing = (transparent?.addresses ?? []).map((range) => `${isTcp} ip daddr ${asMatched(range)}`);
  const marked = `tproxy to :${transparent?.port} meta mark set meta mark or ${TRANSPARENT_MARK} accept`;
  const chains: Chain[] = [
    {
      name: "prerouting",
      hook: "nat hook prerouting priority -106",
      rules: [
        ...redirected(rules, ""),
        ...(ingress === undefined ? [] : [`tcp dport { ${[...new Set(ingress.ports)].join(", ")} } redirect to :${ingress.port}`]),
      ],
    },
    taskOutput(rules),
    // Without a proxy that listens they go nowhere. Source: the kernel's Documentation/networking/tproxy.rst.
    {
      name: "transparent",
      hook: "filter hook prerouting priority -150",
      rules: passing.flatMap((match) => [`${match} ${marked}`, `${match} drop`]),
    },
  ];
  return linesOf(
    TASK_TABLE,
    chains.filter(({ rules }) => rules.length > 0),
  );
}

/** Each service has a chain. Its name is a number, so that there are never more of them than the network has had services at once. */
function services(all: readonly ReachedService[]): string {
  const nameOf = (at: number) => `service-${at}`;
  return linesOf(SERVICE_TABLE, [
    ...all.map(({ ports }, at) => ({ name: nameOf(at), rules: ports.flatMap(choosing) })),
    { name: "output", hook: NAT_OUTPUT.services, rules: all.map(({ address }, at) => `ip daddr ${address} goto ${nameOf(at)}`) },
    {
      name: "refused",
      hook: "filter hook output priority -5",
      rules: all.flatMap(({ address }) => [`ip daddr ${address} meta l4proto tcp reject with tcp reset`, `ip daddr ${address} reject`]),
    },
  ]);
}

/** The first takes its share of all connections, the next one its share of the rest, and the last one what is left. */
function choosing({ port, protocol, to }: ReachedService["ports"][number]): string[] {
  return to.map((one, index) => {
    const left = to.length - index;
    return `meta l4proto ${protocol} th dport ${port} ${left === 1 ? "" : `numgen random mod ${left} < 1 `}dnat ip to ${one}`;
  });
}

/** Makes the table and its chains, or finds them, and replaces all rules, or those of one chain. Chains to which others go come first. */
function linesOf(table: string, chains: readonly Chain[], replaced?: string): string {
  return [
    `add table ${table}`,
    ...chains.map(({ name, hook }) => `add chain ${table} ${name}${hook === undefined ? "" : ` { type ${hook}; policy accept; }`}`),
    replaced === undefined ? `flush table ${table}` : `flush chain ${table} ${replaced}`,
    ...chains.flatMap(({ name, rules }) => rules.map((rule) => `add rule ${table} ${name} ${rule}`)),
    "",
  ].join("\n");
}
