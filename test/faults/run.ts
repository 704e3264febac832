/** Runs a worker in namespaces of its own: what it leaves there is nobody's but its own, and goes with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, rmdirSync } from "node:fs";
import { createInterface } from "node:readline";
import { REPOSITORY, sharedRootfs } from "../support/programs.ts";
import { attempt, until } from "./wait.ts";
import type { Report, Task } from "./worker.ts";

/** With the name of their cgroup. */
const running = new Map<ChildProcess, string>();
/** With unshare everything in its namespaces ends. */
process.on("exit", () => {
  for (const child of running.keys()) child.kill("SIGKILL");
  for (const cgroups of running.values()) until(() => removeCgroups(cgroups));
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => process.exit(1));

/** The shell is the one who reaps what is left by those who were killed. */
const REAPER = '"$@"; exit $?';
const ALONE = [
  "--mount",
  "--net",
  "--ipc",
  "--pid",
  "--fork",
  "--kill-child",
  "--mount-proc",
  "--propagation",
  "private",
  "sh",
  "-c",
  REAPER,
  "sh",
];

export interface Outcome {
  points: number;
  faults: number;
  tried: number;
  missed: number;
  /** "fault: problem". */
  readonly problems: string[];
}

export function newOutcome(): Outcome {
  return { points: 0, faults: 0, tried: 0, missed: 0, problems: [] };
}

/** Puts the results into `outcomes`, by scenario. @throws if the worker itself fails */
export async function runTask(task: Task, outcomes: Map<string, Outcome>, hear: (line: string) => void = () => {}): Promise<void> {
  // Made here, once: the workers copy of it.
  sharedRootfs();
  const worker = [process.execPath, "--import", "tsx", "test/faults/worker.ts", JSON.stringify(task)];
  const child = spawn("unshare", [...ALONE, ...worker], { cwd: REPOSITORY, stdio: ["ignore", "pipe", "pipe"] });
  running.set(child, task.cgroups);
  let errors = "";
  child.stderr.on("data", (data) => (errors += data));
  const ended = new Promise<number>((done) => child.on("exit", (code) => done(code ?? 255)));
  for await (const line of createInterface({ input: child.stdout })) note(JSON.parse(line) as Report, outcomes, hear);
  const status = await ended;
  running.delete(child);
  removeCgroups(task.cgroups);
  if (status !== 0) throw new Error(`the worker ended with status ${status}: ${errors}`);
}

function note(report: Report, outcomes: Map<string, Outcome>, hear: (line: string) => void): void {
  const outcome = outcomes.get(report.scenario) ?? newOutcome();
  outcomes.set(report.scenario, outcome);
  if ("points" in report) {
    outcome.points = report.points;
    outcome.faults = report.faults;
    return;
  }
  outcome.tried++;
  if (report.missed) outcome.missed++;
  const lines = report.problems.map((problem) => `${report.scenario}: ${report.fault}: ${problem}`);
  outcome.problems.push(...lines);
  for (const line of lines) hear(line);
}

/** Of a worker that has failed; of others there are none. False: something is still in them. */
function removeCgroups(name: string): boolean {
  const remove = (path: string): boolean => list(path).every((entry) => remove(`${path}/${entry}`)) && attempt(() => rmdirSync(path));
  const parents = ["/sys/fs/cgroup", ...list("/sys/fs/cgroup").map((hierarchy) => `/sys/fs/cgroup/${hierarchy}`)];
  return parents.filter((parent) => list(parent).includes(name)).every((parent) => remove(`${parent}/${name}`));
}

function list(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
}
