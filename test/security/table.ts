/** The results as a table, for people and for docs/security.md. */
import type { Attack } from "./attack.ts";
import type { Result } from "./run.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";

export type Results = ReadonlyMap<string, Partial<Record<SubjectName, Result>>>;

/** One word for a cell. */
export function word(result: Result | undefined): string {
  if (result === undefined || "skipped" in result) return "—";
  if ("broken" in result) return "broken";
  return result.held ? "held" : "**succeeds**";
}

const TITLES: Readonly<Record<SubjectName, string>> = { runt: "runt", undefended: "undefended", crun: "crun", runc: "runc" };

/** Markdown: the attacks with what stops them, side by side for every runtime; then why cells are empty. */
export function table(attacks: readonly Attack[], results: Results, versions: Readonly<Record<string, string>>): string {
  const cell = (text: string) => text.replaceAll("|", "\\|");
  const heads = SUBJECTS.map((name) => TITLES[name]);
  const rows = attacks.map((attack) => {
    const of = results.get(attack.id) ?? {};
    const defence = attack.defences === undefined ? "" : ` (\`${attack.defences}\`)`;
    const words = SUBJECTS.map((name) => word(of[name]));
    return `| ${cell(attack.id)} | ${cell(attack.title)} | ${cell(attack.mechanism)}${defence} | ${words.join(" | ")} |`;
  });
  const peers = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return [
    `${attacks.length} attacks. The word in brackets is the defence that *undefended* lacks. Peers: ${peers.join(", ")}.`,
    "",
    `| attack | the attacker tries | what stops it | ${heads.join(" | ")} |`,
    `| --- | --- | --- | ${heads.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
    ...emptyCells(attacks, results),
  ].join("\n");
}

/** The same reason is told once, with all the attacks it is true of. */
function emptyCells(attacks: readonly Attack[], results: Results): string[] {
  const reasons = new Map<string, string[]>();
  for (const { id } of attacks) {
    for (const name of SUBJECTS) {
      const result = results.get(id)?.[name];
      if (result === undefined || !("skipped" in result)) continue;
      const reason = `${TITLES[name]}: ${result.skipped}`;
      reasons.set(reason, [...(reasons.get(reason) ?? []), id]);
    }
  }
  if (reasons.size === 0) return [];
  return ["Empty cells:", "", ...[...reasons].map(([reason, ids]) => `- ${reason} (${ids.join("; ")})`), ""];
}

/** The page with the table between its markers. */
/** @param name of the marks around the table */
export function withTable(page: string, text: string, name = "attacks"): string {
  const [begin, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`];
  const from = page.indexOf(begin);
  const to = page.indexOf(end);
  if (from === -1 || to < from) throw new Error(`no ${begin} ... ${end} in docs/security.md`);
  return `${page.slice(0, from + begin.length)}\n\n${text}\n${page.slice(to)}`;
}
