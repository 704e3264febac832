/**
 * Tries faults, in namespaces that main.ts has made. Argument: a Task as JSON. Prints one Report a line.
 */
import { setImmediate as breathe } from "node:timers/promises";
import { random } from "../support/random.ts";
import type { Watched } from "../support/snapshot.ts";
import { Cases } from "./case.ts";
import { FOUND } from "./found.ts";
import { describeFault, type Fault, faultsAt } from "./point.ts";
import type { Scenario } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import { makeWorld } from "./world.ts";

export interface Task {
  readonly scenarios: readonly string[];
  /** Of the faults that are left by the other choices, those number `part`, `part + parts`, ... */
  readonly part: number;
  readonly parts: number;
  /** So many of each scenario, drawn by `seed`, and those of FOUND; 0 = all. */
  readonly sample: number;
  readonly seed: number;
  /** Faults whose description has this text. */
  readonly only: string;
  /** Without delete --force at the end: whether what is left is seen. */
  readonly forget?: boolean;
  /** Name of the cgroup above all that are made. */
  readonly cgroups: string;
}

export type Report = { readonly scenario: string } & (
  | { readonly points: number; readonly faults: number }
  | { readonly fault: string; readonly problems: readonly string[]; readonly missed: boolean; readonly milliseconds: number }
);

function choose(scenario: string, faults: readonly Fault[], { sample, seed, part, parts, only }: Task): readonly Fault[] {
  const pool = faults.filter((fault) => describeFault(fault).includes(only));
  const next = random(seed);
  const isFound = (fault: Fault) => FOUND.some(([name, text]) => name === scenario && describeFault(fault).startsWith(text));
  const drawn = Array.from({ length: Math.min(sample, pool.length) }, () => pool.splice(next(pool.length), 1)[0]!);
  return (sample === 0 ? pool : [...drawn, ...pool.filter(isFound)]).filter((_, index) => index % parts === part);
}

/** What found.ts has of the scenario and nothing is like. */
function lost(scenario: string, faults: readonly Fault[]): string[] {
  return FOUND.filter(([name, text]) => name === scenario && !faults.some((fault) => describeFault(fault).startsWith(text))).map(
    ([, text]) => text,
  );
}

function say(report: Report): void {
  process.stdout.write(`${JSON.stringify(report)}\n`);
}

async function tryScenario(scenario: Scenario, task: Task, watched: Watched): Promise<void> {
  const cases = new Cases(scenario, watched, `/${task.cgroups}/${task.part}/container`);
  const points = cases.points();
  const faults = points.flatMap(faultsAt);
  say({ scenario: scenario.name, points: points.length, faults: faults.length });
  for (const text of lost(scenario.name, faults)) {
    say({ scenario: scenario.name, fault: text, problems: ["there is no such point any more (found.ts)"], missed: true, milliseconds: 0 });
  }
  for (const fault of choose(scenario.name, faults, task)) {
    const start = Date.now();
    const { problems, missed } = cases.run(fault, task.forget);
    say({ scenario: scenario.name, fault: describeFault(fault), problems, missed, milliseconds: Date.now() - start });
    // Children that have ended are reaped here.
    await breathe();
  }
}

const task = JSON.parse(process.argv[2] ?? "{}") as Task;
const { watched } = makeWorld(task.cgroups);
for (const scenario of SCENARIOS) if (task.scenarios.includes(scenario.name)) await tryScenario(scenario, task, watched);
