/**
 * Thousands of containers whose runtime is killed at a random moment, each followed by `delete --force`: what the machine holds before
 * and after is counted. `tsx test/faults/cycles.ts [--cycles 5000] [--workers 2] [--runtime PATH] [--seed 1]`; needs root.
 */
import { fork, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { peerCommand } from "../support/crun.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { REPOSITORY, reachableRootfs } from "../support/programs.ts";
import { random } from "../support/random.ts";
import { type CycleResult, KILLED, newCycler } from "./cycle.ts";
import { type Counts, countsOf, endProcesses, type Traces, traces } from "./traces.ts";

const PARTS = 1_000_000;

export interface CyclesReport {
  readonly seed: number;
  readonly results: readonly CycleResult[];
  readonly seconds: number;
  /** Things with the mark of these cycles that still exist. */
  readonly left: Traces;
  readonly before: Counts;
  readonly after: Counts;
}

/** Counts what is left, then removes it. */
export async function runCycles(request: { cycles: number; workers: number; runtime: string; seed: number }): Promise<CyclesReport> {
  const { cycles, workers, runtime, seed } = request;
  const directory = mkdtempSync(join(tmpdir(), "runt-cycles-"));
  const parent = `/${basename(directory)}`;
  const rootfs = reachableRootfs(directory);
  const before = countsOf();
  const begun = performance.now();
  try {
    const shares = Array.from({ length: workers }, (_, index) => Math.floor((cycles + index) / workers));
    const all = await Promise.allSettled(
      shares.map((share, index) => {
        const own = join(directory, `worker-${index}`);
        mkdirSync(own);
        return work({ runtime, directory: own, cgroup: `${parent}/pod/${index}`, rootfs, cycles: share, seed: seed + index });
      }),
    );
    const failed = all.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    const results = all.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
    const seconds = (performance.now() - begun) / 1000;
    const left = await settled(directory, parent);
    return { seed, results, seconds, left, before, after: countsOf() };
  } finally {
    endProcesses(traces(directory, parent).processes);
    for (const path of traces(directory, parent).cgroups.toReversed()) await removeCgroup(path);
    rmSync(directory, { recursive: true, force: true });
  }
}

async function settled(directory: string, parent: string): Promise<Traces> {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const found = traces(directory, parent);
    if (Object.values(found).every(({ length }) => length === 0) || Date.now() > deadline) return found;
    await sleep(200);
  }
}

/** Killed processes leave their cgroup a little later. */
async function removeCgroup(path: string): Promise<void> {
  for (let attempt = 0; attempt < 50; attempt++) {
    try {
      return rmdirSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EBUSY") return;
      await sleep(20);
    }
  }
}

interface Work {
  readonly runtime: string;
  readonly directory: string;
  readonly cgroup: string;
  readonly rootfs: string;
  readonly cycles: number;
  readonly seed: number;
}

/** A process of its own: waiting for the moment to kill keeps a loop busy. */
function work(share: Work): Promise<CycleResult[]> {
  return new Promise((done, failed) => {
    const child = fork(fileURLToPath(import.meta.url), ["--work", JSON.stringify(share)], {
      execArgv: ["--import", "tsx"],
      cwd: REPOSITORY,
    });
    let results: CycleResult[] | undefined;
    child.on("message", (message) => {
      results = message as CycleResult[];
    });
    child.on("error", failed);
    child.on("exit", (code) => (results ? done(results) : failed(new Error(`a worker ended with status ${code}`))));
  });
}

async function doWork({ cycles, seed, ...share }: Work): Promise<void> {
  const number = random(seed);
  const cycle = await newCycler({ ...share, random: () => number(PARTS) / PARTS });
  const results: CycleResult[] = [];
  while (results.length < cycles) results.push(await cycle());
  process.send?.(results);
}

/** One line for each verb, then what is left. */
export function summary({ seed, results, seconds, left, before, after }: CyclesReport): string {
  const lines = KILLED.map((verb) => {
    const own = results.filter((result) => result.verb === verb);
    const hit = own.filter((result) => result.hit).length;
    return `${verb.padEnd(8)} ${String(own.length).padStart(6)} cycles, ${String(hit).padStart(6)} killed before their end`;
  });
  const counts = (Object.keys(before) as (keyof Counts)[]).map((name) => `${name} ${before[name]} -> ${after[name]}`);
  const problems = results.flatMap(({ problem }) => problem ?? []);
  return [
    ...lines,
    `${results.length} cycles (seed ${seed}) in ${seconds.toFixed(0)} s; failed deletes: ${problems.length}`,
    ...[...new Set(problems)].slice(0, 10),
    `left by the cycles: ${(Object.keys(left) as (keyof Traces)[]).map((name) => `${name} ${left[name].length}`).join(", ")}`,
    ...Object.values(left).flatMap((found) => found.slice(0, 10)),
    `the whole machine: ${counts.join(", ")}`,
  ].join("\n");
}

export function isClean({ results, left }: CyclesReport): boolean {
  return results.every(({ problem }) => problem === undefined) && Object.values(left).every(({ length }) => length === 0);
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cycles: { type: "string", default: "5000" },
      workers: { type: "string", default: "2" },
      runtime: { type: "string", default: join(REPOSITORY, "bin/runt") },
      seed: { type: "string", default: "1" },
      work: { type: "string" },
      inside: { type: "boolean", default: false },
    },
  });
  if (values.work !== undefined) {
    await doWork(JSON.parse(values.work));
    return 0;
  }
  // crun needs more hierarchies than the host may have; all its cycles run where they are mounted.
  if (basename(values.runtime) === "crun" && !values.inside) {
    const self = [process.execPath, "--import", "tsx", fileURLToPath(import.meta.url), ...process.argv.slice(2), "--inside"];
    const [, ...command] = peerCommand(values.runtime, self);
    const at = command.indexOf(values.runtime);
    return (
      spawnSync("unshare", at === -1 ? self : [...command.slice(0, at), ...command.slice(at + 1)], { stdio: "inherit", cwd: REPOSITORY })
        .status ?? 1
    );
  }
  const report = await runCycles({
    cycles: Number(values.cycles),
    workers: Number(values.workers),
    runtime: values.runtime,
    seed: Number(values.seed),
  });
  console.log(summary(report));
  return isClean(report) ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exitCode = await main();
