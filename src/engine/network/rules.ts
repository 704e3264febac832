/**
 * Rules and chains that CNI plugins have made for a task, by the comment that they bear: `name: "NETWORK" id: "CONTAINER"`. A plugin finds its rules by the
 * addresses of the task, and leaves them when the namespace is gone.
 */
import { output } from "./command.ts";

const COMMENT = /--comment "(?:dnat )?name: \\"([^"\\]+)\\" id: \\"([^"\\]+)\\""/;

export interface RuleOwner {
  readonly network: string;
  readonly id: string;
}

/** Remove those of the table nat. @throws NetworkError program-missing, program-failed */
export async function sweepRules(isLeft: (owner: RuleOwner) => boolean, timeoutMs: number): Promise<void> {
  const lines = removalOf(await output("iptables-save", ["-t", "nat"], timeoutMs), isLeft);
  if (lines.length === 0) return;
  await output("iptables-restore", ["--noflush", "--wait", "5"], timeoutMs, ["*nat", ...lines, "COMMIT", ""].join("\n"));
}

/** What iptables-restore(8) is to do, of what iptables-save(8) has printed. Pure. */
export function removalOf(saved: string, isLeft: (owner: RuleOwner) => boolean): string[] {
  const rules = saved.split("\n").filter((line) => line.startsWith("-A ") && isOf(line, isLeft));
  const targets = rules.flatMap((rule) => / -j (CNI-[0-9a-zA-Z-]+)/.exec(rule)?.[1] ?? []);
  const chains = [...new Set([...targets, ...rules.flatMap((rule) => /^-A (CNI-(?:DN-)?[0-9a-f]{8,})/.exec(rule)?.[1] ?? [])])];
  // Rules in a chain that goes are flushed with it.
  const jumps = rules.filter((rule) => !chains.includes(rule.split(" ")[1]!)).map((rule) => `-D ${rule.slice(3)}`);
  return [...jumps, ...chains.map((chain) => `-F ${chain}`), ...chains.map((chain) => `-X ${chain}`)];
}

function isOf(rule: string, isLeft: (owner: RuleOwner) => boolean): boolean {
  const [, network, id] = COMMENT.exec(rule) ?? [];
  return network !== undefined && id !== undefined && isLeft({ network, id });
}
