/**
 * Measures what a prepared container costs, and prints each target with what was reached: the time from the call of Pool.take to the first byte of its program's output, and in
 * the same rounds that of `runt`, `crun`, `docker` and `podman run` where they are installed; the runs in a second with refill; the memory of a container that waits; the same
 * claims with many that wait; and the time from `npm install` to a first run.
 * Usage: tsx bench/pool.ts [--rounds N] [--size N] [--many N] [--seconds N] [--without-install]
 */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { Pool, type PoolOptions, sandbox } from "../src/executor/index.ts";
import { REPOSITORY, reachableRootfs } from "../test/support/programs.ts";
import { installSeconds } from "./pool-install.ts";
import { type Peer, peersHere } from "./pool-peers.ts";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "200" },
    size: { type: "string", default: "10" },
    many: { type: "string", default: "1000" },
    seconds: { type: "string", default: "10" },
    "without-install": { type: "boolean", default: false },
  },
});
const [rounds, size, many, seconds] = [Number(values.rounds), Number(values.size), Number(values.many), Number(values.seconds)];
/** Callers at the same time, for runs in a second. */
const CALLERS = 32;
const COMMAND = ["/bin/echo", "first"] as const;

interface Target {
  readonly what: string;
  /** undefined: it was not measured here. */
  readonly value: number | undefined;
  readonly unit: string;
  readonly most?: number;
  readonly least?: number;
}

const directory = mkdtempSync(join(tmpdir(), "runt-bench-pool-"));
// The ids of a sandbox are not root's: they have to pass through it.
chmodSync(directory, 0o711);
const rootfs = reachableRootfs(directory);
const binary = join(REPOSITORY, "bin/runt");
const targets: Target[] = [];

function poolOf(name: string, count: number): Promise<Pool> {
  const options: PoolOptions = { template: sandbox({ rootfs }), size: count, stateDir: join(directory, name), maxWaiting: 100_000, binary };
  return Pool.open(options);
}

try {
  const few = await measureFew();
  await measureMany(few);
  if (!values["without-install"]) {
    targets.push({ what: "npm install to the end of the first run", value: installSeconds(directory, rootfs), unit: "s", most: 60 });
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
for (const line of targets.map(lineOf)) console.log(line);

/** Returns the median claim in milliseconds. */
async function measureFew(): Promise<number> {
  const pool = await poolOf("few", size);
  let peers: readonly Peer[] = [];
  try {
    await full(pool, size);
    const kib = memory("few");
    peers = await peersHere({ bundle: coldBundle("few"), rootfs, directory, binary, command: COMMAND });
    const claims: number[] = [];
    const cold = new Map<string, number[]>(peers.map(({ name }) => [name, []]));
    for (let round = 0; round < rounds; round++) {
      await full(pool, size);
      claims.push(await claim(pool));
      for (const peer of peers) cold.get(peer.name)!.push(await peer.run(round));
    }
    const [p50, p99] = [quantile(claims, 0.5), quantile(claims, 0.99)];
    targets.push({ what: `claim to first byte, p50 of ${rounds}`, value: p50, unit: "ms", most: 1 });
    targets.push({ what: "claim to first byte, p99", value: p99, unit: "ms", most: 3 });
    for (const name of ["docker run", "podman run", "crun run", "runt run"]) {
      const times = cold.get(name);
      if (times !== undefined) console.log(`${name} to first byte: p50 ${quantile(times, 0.5).toFixed(2)} ms`);
      const value = times && (100 * p50) / quantile(times, 0.5);
      targets.push({ what: `claim as a part of ${name}, p50`, value, unit: "%", ...(name === "runt run" ? {} : { most: 15 }) });
    }
    targets.push({ what: `runs a second for ${seconds} s, with refill`, value: await runsInSecond(pool), unit: "", least: 300 });
    targets.push({ what: "memory of one that waits (PSS of init and monitor)", value: kib, unit: "KiB", most: 300 });
    return p50;
  } finally {
    for (const peer of peers) peer.end();
    await pool.close();
  }
}

/** @param few median claim of a small pool, in milliseconds */
async function measureMany(few: number): Promise<void> {
  const before = descriptors();
  const pool = await poolOf("many", many);
  try {
    await full(pool, many);
    // Spare FIFOs of the next containers are files, and no descriptors.
    targets.push({
      what: `descriptors of the owner for each of ${many} that wait`,
      value: (descriptors() - before) / many,
      unit: "",
      most: 0.1,
    });
    const claims: number[] = [];
    for (let round = 0; round < rounds; round++) {
      claims.push(await claim(pool));
      await full(pool, many);
    }
    targets.push({
      what: `claim with ${many} that wait as a part of that with ${size}, p50`,
      value: (100 * quantile(claims, 0.5)) / few,
      unit: "%",
      most: 120,
    });
  } finally {
    await pool.close();
  }
}

/** Milliseconds. */
async function claim(pool: Pool): Promise<number> {
  const [cmd, ...args] = COMMAND;
  const began = performance.now();
  const box = await pool.take({ cmd, args });
  await new Promise((done) => box.stdout.once("data", done));
  const time = performance.now() - began;
  await box[Symbol.asyncDispose]();
  return time;
}

async function runsInSecond(pool: Pool): Promise<number> {
  let count = 0;
  const began = performance.now();
  const end = began + seconds * 1000;
  const caller = async () => {
    while (performance.now() < end) {
      await pool.run({ cmd: "/bin/true" });
      count++;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return (1000 * count) / (performance.now() - began);
}

async function full(pool: Pool, count: number): Promise<void> {
  while (pool.stats().parked < count) {
    // run() throws the reason why the pool cannot make a container.
    if (pool.stats().failures > 0) await pool.run({ cmd: "/bin/true" });
    await sleep(2);
  }
}

function quantile(times: readonly number[], part: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))]!;
}

/** Makes a bundle with the configuration of the pool's containers and the program in it. */
function coldBundle(name: string): string {
  const boxes = join(directory, name, "boxes");
  const made = readdirSync(boxes).find((one) => one.startsWith("b-"))!;
  const { annotations: _, ...config } = JSON.parse(readFileSync(join(boxes, made, "config.json"), "utf8"));
  // That cgroup is the waiting container's.
  delete config.linux.cgroupsPath;
  const bundle = join(directory, "cold");
  mkdirSync(bundle);
  // Older runtimes refuse newer versions by their number alone.
  const cold = { ...config, ociVersion: "1.0.2", process: { ...config.process, args: COMMAND } };
  writeFileSync(join(bundle, "config.json"), JSON.stringify(cold));
  return bundle;
}

/** KiB of proportional memory of a container that waits. */
function memory(name: string): number {
  const boxes = join(directory, name, "boxes");
  const records = readdirSync(boxes)
    .filter((one) => one.startsWith("b-"))
    .map((one) => JSON.parse(readFileSync(join(boxes, one, "record.json"), "utf8")) as { pid: number; monitor: { pid: number } });
  const total = records.reduce((sum, { pid, monitor }) => sum + pss(pid) + pss(monitor.pid), 0);
  return total / records.length;
}

function pss(pid: number): number {
  return Number(/^Pss:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
}

function descriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

function lineOf({ what, value, unit, most, least }: Target): string {
  const shown = value === undefined ? "not measured" : `${value.toFixed(value < 10 ? 2 : 0)} ${unit}`.trim();
  const goal = most !== undefined ? `at most ${most} ${unit}`.trim() : least !== undefined ? `at least ${least}` : "no target";
  const isMet = value !== undefined && (most === undefined || value <= most) && (least === undefined || value >= least);
  const verdict = value === undefined || (most ?? least) === undefined ? "" : isMet ? "met" : "MISSED";
  return `${what.padEnd(64)} ${shown.padStart(14)}   ${goal.padEnd(18)} ${verdict}`.trimEnd();
}
