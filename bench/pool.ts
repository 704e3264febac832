/**
 * What a prepared container costs when a request comes: from the call of Pool.take to the first byte of its program's output, runs a second with refill, and the memory of a
 * container that waits. tsx bench/pool.ts [--rounds N] [--size N]
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
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
const pool = await Pool.open({
  template: sandbox({ rootfs }),
  size,
  stateDir,
  maxWaiting: 100_000,
  binary: join(REPOSITORY, "bin/runt"),
});

try {
  await full();
  console.log(`${size} parked: ${memory()} KiB each (PSS of init and monitor)`);
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await full();
    const began = performance.now();
    const box = await pool.take({ cmd: "/bin/echo", args: ["first"] });
    await new Promise((done) => box.stdout.once("data", done));
    times.push(performance.now() - began);
    await box[Symbol.asyncDispose]();
  }
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.min(times.length - 1, Math.floor(times.length * part))]!.toFixed(2);
  console.log(`claim to first byte, ${rounds} rounds: min ${at(0)}, p50 ${at(0.5)}, p99 ${at(0.99)} ms`);
  await full();
  const began = performance.now();
  await Promise.all(Array.from({ length: rounds }, () => pool.run({ cmd: "/bin/true" })));
  console.log(`${((1000 * rounds) / (performance.now() - began)).toFixed(0)} runs a second, with refill`);
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

/** KiB of proportional memory of a container that waits. */
function memory(): number {
  const boxes = join(stateDir, "boxes");
  const records = readdirSync(boxes)
    .filter((name) => name.startsWith("b-"))
    .map((name) => JSON.parse(readFileSync(join(boxes, name, "record.json"), "utf8")) as { pid: number; monitor: { pid: number } });
  const total = records.reduce((sum, { pid, monitor }) => sum + pss(pid) + pss(monitor.pid), 0);
  return Math.round(total / records.length);
}

function pss(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
}
