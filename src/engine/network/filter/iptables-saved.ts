/**
 * Removes rules and chains that this engine (iptables-nat.ts) or CNI plugins have made for a task. They are found by their comment, `name: "NETWORK" id: "CONTAINER"`, because plugins find them by
 * the addresses of the task, and leave them behind if the namespace is gone.
 */
import { eachLine, output } from "../command.ts";

const COMMENT = /--comment "(?:dnat )?name: \\"([^"\\]+)\\" id: \\"([^"\\]+)\\""/;

/** What this engine and plugins call their chains, and write into their comments. */
const OWN = /RUNT-|CNI-|--comment "(?:runt|(?:dnat )?name: )/;
/** Where a table begins and ends. */
const FRAME = /^(?:\*|COMMIT)/;

/**
 * What iptables-save(8) prints of the rules of this engine and of plugins. On a host with kube-proxy others have many more, of which nothing is kept.
 * @param table undefined: all. @throws NetworkError program-missing, program-failed
 */
export async function savedRules(timeoutMs: number, table?: "nat" | "raw"): Promise<string> {
  const kept: string[] = [];
  await eachLine("iptables-save", table === undefined ? [] : ["-t", table], timeoutMs, (line) => {
    if (FRAME.test(line) || OWN.test(line)) kept.push(line);
  });
  return [...kept, ""].join("\n");
}

export interface RuleOwner {
  readonly network: string;
  readonly id: string;
}

/** Removes such rules from the table nat. @throws NetworkError program-missing, program-failed */
export async function sweepRules(isLeft: (owner: RuleOwner) => boolean, timeoutMs: number): Promise<void> {
  const lines = removalOf(await savedRules(timeoutMs, "nat"), isLeft);
  if (lines.length === 0) return;
  await restoreNat(lines, timeoutMs);
}

/** Turns the output of iptables-save(8) into input for iptables-restore(8) that removes the rules. Pure. */
export function removalOf(saved: string, isLeft: (owner: RuleOwner) => boolean): string[] {
  const rules = saved.split("\n").filter((line) => line.startsWith("-A ") && isOf(line, isLeft));
  const targets = rules.flatMap((rule) => / -j (CNI-[0-9a-zA-Z-]+)/.exec(rule)?.[1] ?? []);
  const chains = [...new Set([...targets, ...rules.flatMap((rule) => /^-A (CNI-(?:DN-)?[0-9a-f]{8,})/.exec(rule)?.[1] ?? [])])];
  // Rules inside a removed chain are flushed with the chain.
  const jumps = rules.filter((rule) => !chains.includes(rule.split(" ")[1]!)).map((rule) => `-D ${rule.slice(3)}`);
  return [...jumps, ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
}

function isOf(rule: string, isLeft: (owner: RuleOwner) => boolean): boolean {
  const [, network, id] = COMMENT.exec(rule) ?? [];
  return network !== undefined && id !== undefined && isLeft({ network, id });
}

// Changes of the host's tables nat and raw by iptables-restore(8).

/** All lines, or none. @throws NetworkError program-missing, program-failed */
export async function restoreNat(lines: readonly string[], timeoutMs: number): Promise<void> {
  await restoreTable("nat", lines, timeoutMs);
}

/** All lines, or none. @throws NetworkError program-missing, program-failed */
export async function restoreRaw(lines: readonly string[], timeoutMs: number): Promise<void> {
  await restoreTable("raw", lines, timeoutMs);
}

async function restoreTable(table: string, lines: readonly string[], timeoutMs: number): Promise<void> {
  await output("iptables-restore", ["--noflush", "--wait", "5"], timeoutMs, [`*${table}`, ...lines, "COMMIT", ""].join("\n"));
}
