/** Attack one runtime, and see that nothing is left of it. */
import { existsSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { hierarchies, removeCgroups } from "../conformance/cgroups.ts";
import { CGROUP_PARENT, hostTraces } from "../support/leaks.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import type { Attack, Outcome } from "./attack.ts";
import { Subject } from "./subject.ts";
import { runtimeFor, type SubjectName } from "./subjects.ts";

export type Result = Outcome | { readonly broken: string };

export interface Place {
  readonly directory: string;
  readonly sharedRootfs: string;
  readonly rounds: number;
}

/** Every attack of every file in attacks/, in the order of the files' names. */
export async function allAttacks(): Promise<readonly Attack[]> {
  const directory = join(import.meta.dirname, "attacks");
  const names = readdirSync(directory).filter((name) => name.endsWith(".ts"));
  const modules = await Promise.all(names.sort().map(async (name) => await import(join(directory, name))));
  const attacks = modules.flatMap((module) => (module as { readonly ATTACKS: readonly Attack[] }).ATTACKS);
  const twice = attacks.find(({ id }, at) => attacks.findIndex((other) => other.id === id) !== at);
  if (twice) throw new Error(`two attacks are called ${twice.id}`);
  return attacks;
}

/** broken: the attack itself could not be carried out, or something is left of it. */
export async function runAttack(attack: Attack, name: SubjectName, { directory, sharedRootfs, rounds }: Place): Promise<Result> {
  const runtime = runtimeFor(name, attack);
  if ("skipped" in runtime) return runtime;
  const before = hostTraces(directory);
  const missing = missingLevels(directory);
  const subject = new Subject(runtime, join(directory, `${name}-${attack.id.replaceAll(/[^\w-]+/g, "-")}`), sharedRootfs, rounds);
  let result: Result;
  try {
    result = await attack.run(subject);
  } catch (error) {
    result = { broken: error instanceof Error ? error.message : String(error) };
  }
  const errors = await subject.finish();
  // What an attack leaves behind counts against runt only; the machine is cleaned up in any case.
  const left = name === "runt" ? await leftovers(directory, before, () => {}) : [];
  const unswept = await leftovers(directory, before, () => sweep(directory, before, missing));
  const trouble = [...errors, ...[...left, ...unswept].map((line) => `left behind: ${line}`)].join("; ");
  return trouble === "" || "broken" in result ? result : { broken: trouble };
}

/** Ends what is left of the processes in the attack's cgroups and directory, and removes those cgroups, with the levels that were not there before. */
function sweep(directory: string, before: ReadonlySet<string>, missing: readonly string[]): void {
  for (const line of hostTraces(directory)) {
    const pid = /^process (\d+)/.exec(line)?.[1];
    if (pid !== undefined && !before.has(line)) endProcess(Number(pid));
  }
  removeCgroups(CGROUP_PARENT);
  for (const base of bases()) removeCgroups(join(base, directory));
  for (const level of missing.toReversed()) removeIfEmpty(level);
}

function removeIfEmpty(cgroup: string): void {
  try {
    rmdirSync(cgroup);
  } catch {
    // Not made, or somebody else has come to use it.
  }
}

/** Root of a hierarchy, and the cgroups of this process. */
function bases(): Set<string> {
  const lines = readFileSync("/proc/self/cgroup", "utf8").trim().split("\n");
  return new Set(["/", ...lines.map((line) => line.split(":").slice(2).join(":"))]);
}

/** Cgroups that are not there, with the names of the levels of this directory: runc 1.1 makes them for a cgroupsPath that climbs to it, and leaves them. */
function missingLevels(directory: string): string[] {
  const names = directory.split("/").filter(Boolean);
  const levels = names.map((_, index) => names.slice(0, index + 1).join("/"));
  const below = hierarchies().flatMap(({ target }) => [...bases()].map((base) => join(target, base)));
  return below
    .filter((path) => existsSync(path))
    .flatMap((path) => levels.map((level) => join(path, level)))
    .filter((path) => !existsSync(path));
}

function endProcess(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // Gone meanwhile.
  }
}

/** What is there when dying processes have had the time to go. */
async function leftovers(directory: string, before: ReadonlySet<string>, act: () => void): Promise<string[]> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    act();
    const found = [...hostTraces(directory)].filter((line) => !before.has(line));
    if (found.length === 0 || Date.now() > deadline) return found;
    await sleep(50);
  }
}
