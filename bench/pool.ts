/**
 * Measures what a prepared container costs: the time from the call of Pool.take to the first byte of its program's output, and in each round that of a `runt run` of the
 * same configuration; the runs in a second with refill; and the memory of a container that waits. Usage: tsx bench/pool.ts [--rounds N] [--size N]
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool, sandbox } from "../src/executor/index.ts";
import { REPOSITORY, reachableRootfs } from "../test/support/programs.ts";

const { values } = parseArgs({ options: { rounds: { type: "string", default: "200" }, size: { type: "string", default: "10" } } });
const rounds = Number(values.rounds);
const size = Number(values.size);
const directory = mkdtempSync(join(tmpdir(), "runt-bench-pool-"));
// The ids of a sandbox are not root's: they have to pass through it.
chmodSync(directory, 0o711);
const rootfs = reachableRootfs(directory);
const stateDir = join(directory, "pool");
const boxes = join(stateDir, "boxes");
const binary = join(REPOSITORY, "bin/runt");
const pool = await Pool.open({
  template: sandbox({ rootfs }),
  size,
  stateDir,
  maxWaiting: 100_000,
  binary,
});
const [cmd, ...args] = ["/bin/echo", "first"] as const;

try {
  await full();
  console.log(`${size} parked: ${memory()} KiB each (PSS of init and monitor)`);
  const bundle = coldBundle();
  const claims: number[] = [];
  const processor: number[] = [];
  const cold: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await full();
    const used = process.cpuUsage();
    const began = performance.now();
    const box = await pool.take({ cmd, args });
    await new Promise((done) => box.stdout.once("data", done));
    claims.push(performance.now() - began);
    const { user, system } = process.cpuUsage(used);
    processor.push((user + system) / 1000);
    await box[Symbol.asyncDispose]();
    cold.push(await coldRun(bundle, `cold-${round}`));
  }
  console.log(`claim to first byte, ${rounds} rounds: ${spread(claims)} ms`);
  console.log(`processor time of the caller for it: ${spread(processor)} ms`);
  console.log(`runt run to first byte, in the same rounds: ${spread(cold)} ms`);
  const part = (100 * claims[claims.length >> 1]!) / cold[cold.length >> 1]!;
  console.log(`a claim is ${part.toFixed(0)} % of a run (p50)`);
  await full();
  const used = process.cpuUsage();
  const began = performance.now();
  await Promise.all(Array.from({ length: rounds }, () => pool.run({ cmd: "/bin/true" })));
  const { user, system } = process.cpuUsage(used);
  const each = ((user + system) / 1000 / rounds).toFixed(2);
  console.log(
    `${((1000 * rounds) / (performance.now() - began)).toFixed(0)} runs a second, with refill; processor time of the caller: ${each} ms each`,
  );
} finally {
  await pool.close();
  rmSync(directory, { recursive: true, force: true });
}

async function full(): Promise<void> {
  while (pool.stats().parked < size) {
    // run() throws the reason why the pool cannot make a container.
    if (pool.stats().failures > 0) await pool.run({ cmd: "/bin/true" });
    await sleep(2);
  }
}

/** Sorts the numbers. */
function spread(times: number[]): string {
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(2);
  return `min ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)}`;
}

/** Makes a bundle with the configuration of the pool's containers and the program in it. */
function coldBundle(): string {
  const made = readdirSync(boxes).find((name) => name.startsWith("b-"))!;
  const { annotations: _, ...config } = JSON.parse(readFileSync(join(boxes, made, "config.json"), "utf8"));
  // That cgroup is the waiting container's.
  delete config.linux.cgroupsPath;
  const bundle = join(directory, "cold");
  mkdirSync(bundle);
  writeFileSync(join(bundle, "config.json"), JSON.stringify({ ...config, process: { ...config.process, args: [cmd, ...args] } }));
  return bundle;
}

/** Milliseconds from its start to its first byte. */
async function coldRun(bundle: string, id: string): Promise<number> {
  const began = performance.now();
  const child = spawn(binary, ["--root", join(directory, "cold-state"), "run", "-b", bundle, id], { stdio: ["ignore", "pipe", "inherit"] });
  const ended = once(child, "close");
  await once(child.stdout, "data");
  const time = performance.now() - began;
  const [status] = await ended;
  if (status !== 0) throw new Error(`runt run ended with ${status}`);
  return time;
}

/** KiB of proportional memory of a container that waits. */
function memory(): number {
  const records = readdirSync(boxes)
    .filter((name) => name.startsWith("b-"))
    .map((name) => JSON.parse(readFileSync(join(boxes, name, "record.json"), "utf8")) as { pid: number; monitor: { pid: number } });
  const total = records.reduce((sum, { pid, monitor }) => sum + pss(pid) + pss(monitor.pid), 0);
  return Math.round(total / records.length);
}

function pss(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
}
