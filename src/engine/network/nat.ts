/**
 * Rules of the host that lead from a task behind a bridge to the world, and from ports of the host to the task: what the option ipMasq of the plugin bridge and the
 * plugin portmap would make, but all of them by one program in one transaction. Rules and chains bear the comment of the plugins, so that rules.ts finds them.
 */
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import type { NetworkStep, PortForward } from "../plan/index.ts";
import type { CniResult } from "./answer.ts";
import { output } from "./command.ts";
import { NetworkError } from "./errors.ts";
import { sweepRules } from "./rules.ts";
import type { Together } from "./together.ts";

/** The limit of the match multiport. */
const PORTS_OF_RULE = 15;

/** Lines for iptables-restore(8), table nat. Pure. @param id of the task */
export function natRules({ name, nat }: NetworkStep, { ips = [] }: CniResult, id: string): string[] {
  const range = ips.map((one) => one.address).find((one) => one.includes("."));
  if (nat === undefined || range === undefined) return [];
  const own = { range, address: range.split("/")[0]!, key: createHash("sha256").update(`${name} ${id}`).digest("hex") };
  const comment = (kind: string) => `-m comment --comment "${kind}name: \\"${name}\\" id: \\"${id}\\""`;
  return [...wayOut(own, comment("")), ...(nat.length === 0 ? [] : waysIn(own, nat, comment))];
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
  const hosts = [...new Set(ports.map(({ host }) => host))];
  const groups = Array.from({ length: Math.ceil(hosts.length / PORTS_OF_RULE) }, (_, at) =>
    hosts.slice(at * PORTS_OF_RULE, (at + 1) * PORTS_OF_RULE),
  );
  return [
    `:${chain} - [0:0]`,
    ...ports.map(({ host, container, address: of }) => {
      const destination = of === undefined || of === "0.0.0.0" ? "" : `-d ${of} `;
      return `-A ${chain} -p tcp ${destination}--dport ${host} ${comment("dnat ")} -j DNAT --to-destination ${address}:${container}`;
    }),
    ...["PREROUTING", "OUTPUT"].flatMap((from) =>
      groups.map(
        (group) =>
          `-A ${from} -p tcp -m addrtype --dst-type LOCAL -m multiport --dports ${group.join(",")} ${comment("dnat ")} -j ${chain}`,
      ),
    ),
    // The answer must come back through the host: to a neighbour, to the task itself, and to loopback of the host, it would go another way. Before the rules of neighbours.
    ...[range, "127.0.0.0/8"].map(
      (source) => `-I POSTROUTING -s ${source} -d ${address} -m conntrack --ctstate DNAT ${comment("dnat ")} -j MASQUERADE`,
    ),
  ];
}

/** What takes the rules away again, in the same form. Pure. */
export function natRemoval(lines: readonly string[]): string[] {
  const chains = lines.flatMap((line) => /^:(\S+)/.exec(line)?.[1] ?? []);
  const jumps = lines.filter((line) => !line.startsWith(":") && !chains.includes(line.split(" ")[1]!));
  return [...jumps.map((line) => `-D ${line.slice(3)}`), ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
}

/** The first chain in which rules are missing. Their text is not compared, because iptables prints it in another form. Pure. @param saved of iptables-save(8) */
export function incompleteChain(saved: string, lines: readonly string[]): string | undefined {
  const comments = new Set(lines.flatMap((line) => / -m comment (--comment ".*") -j /.exec(line)?.[1] ?? []));
  const count = (all: readonly string[], chain: string) =>
    all.filter((line) => line.split(" ")[1] === chain && [...comments].some((one) => line.includes(one))).length;
  const present = saved.split("\n").filter((line) => line.startsWith("-A "));
  const chains = new Set(lines.filter((line) => !line.startsWith(":")).map((line) => line.split(" ")[1]!));
  return [...chains].find((chain) => count(present, chain) < count(lines, chain));
}

/** All of them or none. @throws NetworkError program-missing, program-failed; the errors of open(2) */
export async function addNat(lines: readonly string[], steps: readonly NetworkStep[], table: Together): Promise<void> {
  if (lines.length === 0) return;
  for (const { nat = [], serves = false, plugins } of steps) {
    const bridge = plugins.find(({ type }) => type === "bridge")?.["bridge"];
    // Otherwise the kernel drops what comes from 127.0.0.1 and leaves by another interface.
    if (nat.length > 0 || serves) writeFileSync(`/proc/sys/net/ipv4/conf/${bridge}/route_localnet`, "1");
  }
  await table.change(lines);
}

/** @param lines undefined: it is not known whether they were added. @throws NetworkError program-missing, program-failed */
export async function removeNat(
  lines: readonly string[] | undefined,
  isOwn: Parameters<typeof sweepRules>[0],
  table: Together,
  timeoutMs: number,
): Promise<void> {
  if (lines?.length === 0) return;
  try {
    if (lines !== undefined) return await table.change(natRemoval(lines));
  } catch (error) {
    if (!(error instanceof NetworkError) || error.code !== "program-failed") throw error;
    // Somebody has removed some of them.
  }
  await sweepRules(isOwn, timeoutMs);
}

/** @throws NetworkError: some are missing */
export async function checkNat(lines: readonly string[], timeoutMs: number): Promise<void> {
  if (lines.length === 0) return;
  const chain = incompleteChain(await output("iptables-save", ["-t", "nat"], timeoutMs), lines);
  if (chain !== undefined) throw new NetworkError("program-failed", `rules of the task are missing in the chain ${chain} of the table nat`);
}
