/**
 * `make test-security`: every attack against runt, runt without the defence that stops it, crun and runc; those on the
 * engine against runtd, Podman and Docker. Needs root.
 *   --subjects a,b  some of runt,undefended,crun,runc
 *   --only TEXT     attacks whose id contains it
 *   --write         put the table into docs/security.md
 * RUNT_SECURITY_ROUNDS: how often a race is run (10,000).
 * Fails if runt is not held, if one without the defence is (a test that cannot fail), or if an attack left something behind.
 */
import { execFileSync } from "node:child_process";
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { reExec } from "../conformance/sandbox.ts";
import { REPOSITORY, reachableRootfs } from "../support/programs.ts";
import { ENGINE_ATTACKS, engineTable, runEngineAttacks, runPeerAttacks } from "./engine.ts";
import { problem } from "./judge.ts";
import { merged, RECORD, recorded } from "./peers/record.ts";
import { allAttacks, type Result, runAttack } from "./run.ts";
import { SUBJECTS, type SubjectName } from "./subjects.ts";
import { table, withTable, word } from "./table.ts";

const PAGE = join(REPOSITORY, "docs/security.md");
const PEERS: Readonly<Record<string, readonly string[]>> = { crun: ["/usr/bin/crun", "--version"], runc: ["/usr/sbin/runc", "--version"] };

const { values } = parseArgs({
  options: {
    subjects: { type: "string", default: SUBJECTS.join() },
    only: { type: "string", default: "" },
    write: { type: "boolean", default: false },
    inside: { type: "boolean", default: false },
  },
});

function versions(): Record<string, string> {
  const first = (command: readonly string[]) =>
    /version (\S+)/.exec(execFileSync(command[0]!, command.slice(1), { encoding: "utf8" }))?.[1];
  return Object.fromEntries(Object.entries(PEERS).map(([name, command]) => [name, first(command) ?? "?"]));
}

async function inside(): Promise<number> {
  const directory = mkdtempSync("/tmp/runt-security-");
  // The root of a user namespace goes through it.
  chmodSync(directory, 0o711);
  const place = { directory, sharedRootfs: reachableRootfs(directory), rounds: Number(process.env["RUNT_SECURITY_ROUNDS"] ?? 10_000) };
  const names = values.subjects.split(",") as SubjectName[];
  const attacks = (await allAttacks()).filter(({ id }) => id.includes(values.only));
  const results = new Map<string, Partial<Record<SubjectName, Result>>>();
  const problems: string[] = [];
  try {
    for (const attack of attacks) {
      const of: Partial<Record<SubjectName, Result>> = {};
      results.set(attack.id, of);
      console.log(`${attack.id}: ${attack.title}`);
      for (const name of names) {
        const result = await runAttack(attack, name, place);
        of[name] = result;
        const detail = "skipped" in result ? result.skipped : "broken" in result ? result.broken : result.detail;
        console.log(`  ${name.padEnd(9)} ${word(result).replaceAll("*", "").padEnd(9)} ${detail.trim().split("\n").join("\n    ")}`);
        const found = problem(name, result);
        if (found !== undefined) problems.push(`${attack.id}: ${found}`);
      }
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (values.write) writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), table(attacks, results, versions())));
  console.log(`\n${attacks.length} attacks, ${problems.length} problems`);
  for (const line of problems) console.log(line);
  return problems.length === 0 ? 0 : 1;
}

/** The attacks on the engine, in the namespaces that its tests make for themselves. What becomes of the peers is only shown. */
function engine(): number {
  const attacks = values.subjects.split(",").includes("runt") ? ENGINE_ATTACKS.filter(({ id }) => id.includes(values.only)) : [];
  const peers = merged(recorded(), attacks.length === 0 ? {} : runPeerAttacks(values.only));
  const results = runEngineAttacks(attacks);
  for (const { id, title } of attacks) console.log(`engine: ${id}: ${title}\n  runt      ${results.get(id)!.replaceAll("*", "")}`);
  if (values.write) {
    writeFileSync(RECORD, `${JSON.stringify(peers, undefined, 2)}\n`);
    writeFileSync(PAGE, withTable(readFileSync(PAGE, "utf8"), engineTable(results, peers), "engine attacks"));
  }
  return [...results.values()].every((one) => one === "held") ? 0 : 1;
}

if (process.geteuid?.() !== 0) throw new Error("test-security needs root");
process.exit(values.inside ? await inside() : Math.max(await reExec("--inside"), engine()));
