/** Rules in the namespace of a task, for iptables-restore(8). Pure. Source: iptables-extensions(8): REDIRECT, addrtype, owner, TPROXY, statistic, DNAT and REJECT. */
import { RESOLVER_ADDRESS, RESOLVER_PORT, type ReachedService, type TaskRules, TRANSPARENT_MARK } from "../../plan/index.ts";
import { asMatched, type InsideRules } from "./inside.ts";

/** Name of the chains for services, of the tables nat and filter. */
export const SERVICE_CHAIN = "RUNT-SERVICES";
const EGRESS_CHAIN = "RUNT-EGRESS";

export const INSIDE_IPTABLES: InsideRules = {
  program: ["iptables-restore", "--noflush", "--wait", "5"],
  resolver,
  task,
  services,
};

function resolver(host: string): string {
  const to = `${host}:${RESOLVER_PORT}`;
  const each = (line: (protocol: string) => string) => ["udp", "tcp"].map(line);
  return textOf([
    ...tableOf("raw", [
      ":RUNT-LOOPBACK - [0:0]",
      "-A RUNT-LOOPBACK ! -i lo -s 127.0.0.0/8 -j DROP",
      "-A RUNT-LOOPBACK ! -i lo -d 127.0.0.0/8 -j DROP",
      "-A PREROUTING -j RUNT-LOOPBACK",
    ]),
    ...tableOf("nat", [
      ":RUNT-NAMES - [0:0]",
      ":RUNT-NAMES-BACK - [0:0]",
      ...each((protocol) => `-A RUNT-NAMES -p ${protocol} --dport 53 -j DNAT --to-destination ${to}`),
      ...each((protocol) => `-A RUNT-NAMES-BACK -p ${protocol} --dport ${RESOLVER_PORT} -j MASQUERADE`),
      `-A OUTPUT -d ${RESOLVER_ADDRESS} -j RUNT-NAMES`,
      `-A POSTROUTING -s 127.0.0.0/8 -d ${host} -j RUNT-NAMES-BACK`,
    ]),
  ]);
}

function task({ redirects, egress, ingress, transparent }: TaskRules): string {
  const ports = redirects.flatMap(({ port, to, protocol }) => {
    const match = `-p ${protocol} --dport ${port}`;
    return [
      `-A PREROUTING ${match} -m addrtype --dst-type LOCAL -j REDIRECT --to-ports ${to}`,
      `-A OUTPUT ${match} ! -d 127.0.0.0/8 -m addrtype --dst-type LOCAL -j REDIRECT --to-ports ${to}`,
    ];
  });
  const nat = [
    ...ports,
    ...(egress === undefined ? [] : egressLines(egress)),
    ...(ingress === undefined
      ? []
      : [`-A PREROUTING -p tcp -m multiport --dports ${ingress.ports.join(",")} -j REDIRECT --to-ports ${ingress.port}`]),
  ];
  const mangle = (transparent?.addresses ?? []).map((range) => {
    const mark = `${TRANSPARENT_MARK}/${TRANSPARENT_MARK}`;
    return `-A PREROUTING -p tcp -d ${asMatched(range)} -j TPROXY --on-port ${transparent!.port} --tproxy-mark ${mark}`;
  });
  return textOf([...(nat.length === 0 ? [] : tableOf("nat", nat)), ...(mangle.length === 0 ? [] : tableOf("mangle", mangle))]);
}

/** In a chain of its own, from which what is not for the proxy returns, so that it still comes to the rules of services. */
function egressLines({ user, ignored, addresses, port }: NonNullable<TaskRules["egress"]>): string[] {
  const isEach = addresses.length === 0;
  const own = [
    `-m owner --uid-owner ${user}`,
    ...[...ignored, ...(isEach ? ["127.0.0.0/8"] : [])].map((range) => `-d ${asMatched(range)}`),
  ];
  const targets = isEach ? [""] : addresses.map((range) => `-d ${asMatched(range)} `);
  return [
    `:${EGRESS_CHAIN} - [0:0]`,
    ...own.map((match) => `-A ${EGRESS_CHAIN} ${match} -j RETURN`),
    ...targets.map((match) => `-A ${EGRESS_CHAIN} -p tcp ${match}-j REDIRECT --to-ports ${port}`),
    `-A OUTPUT -p tcp -j ${EGRESS_CHAIN}`,
  ];
}

function services(all: readonly ReachedService[]): string {
  const chain = `-A ${SERVICE_CHAIN}`;
  const led = all.flatMap(({ address, ports }) =>
    ports.flatMap(({ port, protocol, to }) =>
      to.map((one, index) => {
        const left = to.length - index;
        const chance = left === 1 ? "" : `-m statistic --mode random --probability ${(1 / left).toFixed(10)} `;
        return `${chain} -d ${address} -p ${protocol} --dport ${port} ${chance}-j DNAT --to-destination ${one}`;
      }),
    ),
  );
  const refused = all.flatMap(({ address }) => [
    `${chain} -d ${address} -p tcp -j REJECT --reject-with tcp-reset`,
    `${chain} -d ${address} -j REJECT`,
  ]);
  const flushed = `:${SERVICE_CHAIN} - [0:0]`;
  return textOf([...tableOf("filter", [flushed, ...refused]), ...tableOf("nat", [flushed, ...led])]);
}

function tableOf(name: string, lines: readonly string[]): string[] {
  return [`*${name}`, ...lines, "COMMIT"];
}

function textOf(lines: readonly string[]): string {
  return [...lines, ""].join("\n");
}
