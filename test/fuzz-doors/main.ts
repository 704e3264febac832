/**
 * Hostile input at every door of a daemon: heads of HTTP, upgrades, frames, bodies, files. `node --import tsx test/fuzz-doors/main.ts SECONDS SEED`. The daemon is alive at the
 * end, answers a reader in time all along, has met no error that only its last handler got, and has as many descriptors as before. What was sent last is kept when it is not.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { http, until } from "../engine/requests.ts";
import { taskText } from "../engine/tasks.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { copiedRootfs, REPOSITORY } from "../support/programs.ts";
import { faultOfCompose } from "./compose.ts";
import { type Door, inputOf } from "./inputs.ts";
import { writeHostileLayout } from "./layouts.ts";
import { faultOfQuadlet } from "./quadlet.ts";
import { randomOf } from "./random.ts";

const [seconds = 10, seed = 1] = process.argv.slice(2).map(Number);
/** In milliseconds, for a reader beside it on a busy machine. */
const LONGEST_ANSWER = 10_000;
const MOST_RESIDENT = 400 << 20;

const directory = mkdtempSync(join(tmpdir(), "runt-fuzz-doors-"));
const runDir = join(directory, "run");
const socketOf = (door: Door) => join(runDir, `${door}.sock`);
const random = randomOf(seed);
const last: string[] = [];

const args = ["--state-dir", join(directory, "state"), "--run-dir", runDir, "--cgroup-parent", CGROUP_PARENT, "--interlink"];
const daemon = spawn(process.execPath, [join(REPOSITORY, "dist/runtd/main.js"), ...args], { stdio: ["ignore", "ignore", "pipe"] });
let log = "";
daemon.stderr!.on("data", (chunk) => {
  log = (log + chunk).slice(-100_000);
});

async function fail(what: string): Promise<never> {
  const kept = join(tmpdir(), `runt-fuzz-doors-${seed}.json`);
  writeFileSync(kept, JSON.stringify({ seed, what, last, log }));
  console.error(`seed ${seed}: ${what}; the last inputs are in ${kept}`);
  // A container would go on without its daemon.
  if (isAlive(daemon)) await Promise.race([removeTask().catch(() => {}), sleep(LONGEST_ANSWER)]);
  daemon.kill("SIGKILL");
  process.exit(1);
}

/** One connection, which is left after a while, whatever comes. */
function send(door: Door, bytes: Buffer, waitMs: number): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect(socketOf(door));
    const timer = setTimeout(() => socket.destroy(), waitMs);
    socket.resume().once("error", () => {});
    socket.once("close", () => {
      clearTimeout(timer);
      resolve();
    });
    socket.write(bytes);
  });
}

const isAlive = ({ exitCode, signalCode }: ChildProcess) => exitCode === null && signalCode === null;
const descriptors = () => readdirSync(`/proc/${daemon.pid}/fd`).length;
const resident = () => Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${daemon.pid}/status`, "utf8"))?.[1]) * 1024;
const metric = async (name: string) =>
  Number(new RegExp(`^${name} (\\S+)$`, "m").exec((await http(socketOf("read"), "GET", "/v1/metrics")).text)?.[1]);

for (let looks = 0; !existsSync(socketOf("interlink")); looks++) {
  if (looks > 600 || !isAlive(daemon)) await fail("the daemon has not begun");
  await sleep(100);
}
const layouts = Array.from({ length: 8 }, (_, at) => join(directory, `layout${at}`));
const rootfs = copiedRootfs(directory);
const task = taskText(rootfs, "t", [{ name: "a", script: "echo begun; exec cat", fields: { stdin: true } }]);
const pool = JSON.stringify({ kind: "Pool", name: "p", rootfs, size: 2, maxTaken: 4, maxWaiting: 4, deadline: "1s" });
async function removeTask(): Promise<void> {
  await http(socketOf("admin"), "POST", "/v1/delete", { names: ["t"] });
  await http(socketOf("admin"), "DELETE", "/v1/pools/p?kill=true");
  await until(async () => (await http(socketOf("read"), "GET", "/v1/pools/p")).status === 404);
  await until(async () => (await http(socketOf("read"), "GET", "/v1/tasks/t")).status === 404);
}

/** A container that runs, for the inputs that are for one. An input may have ended it, or its input. */
async function runTask(): Promise<void> {
  await http(socketOf("admin"), "POST", "/v1/apply", { text: `${task}\n---\n${pool}` });
  await until(async () => (await http(socketOf("read"), "GET", "/v1/pools/p")).text.includes('"state":"ready"'));
  await until(async () => /"known":"RUNNING"/.test((await http(socketOf("read"), "GET", "/v1/tasks/t")).text));
}
await runTask();
const before = descriptors();
const end = performance.now() + seconds * 1000;
let count = 0;
let slowest = 0;
while (performance.now() < end) {
  writeHostileLayout(random.pick(layouts), random);
  const fault = faultOfCompose(random) ?? faultOfQuadlet(random);
  if (fault !== undefined) await fail(fault);
  const batch = Array.from({ length: 8 }, () => inputOf(random, layouts));
  last.push(...batch.map(({ door, bytes }) => `${door} ${bytes.subarray(0, 4096).toString("latin1")}`));
  last.splice(0, Math.max(0, last.length - 32));
  await Promise.all(batch.map(({ door, bytes }) => send(door, bytes, 100 + random.below(400))));
  count += batch.length;
  const begun = performance.now();
  const answer = await Promise.race([http(socketOf("read"), "GET", "/v1/node").catch(() => undefined), sleep(LONGEST_ANSWER)]);
  if (!isAlive(daemon)) await fail("the daemon has ended");
  if (answer === undefined) await fail(`a reader has had no answer within ${LONGEST_ANSWER} ms`);
  slowest = Math.max(slowest, performance.now() - begun);
  if (resident() > MOST_RESIDENT) await fail(`the daemon has ${resident() >> 20} MiB`);
  if (count % 400 !== 0) continue;
  if ((await metric("runtd_unexpected_errors_total")) !== 0) await fail("an error had no handler");
  await removeTask();
  await runTask();
}
if ((await metric("runtd_unexpected_errors_total")) !== 0) await fail("an error had no handler");
if (/"event-failed"|"internal error"/.test(log)) await fail("an event has failed");
// Connections that were refused are cut off after 10 s, and the thread that parses ends after 10 s without a file.
for (let looks = 0; descriptors() > before + 5; looks++) {
  if (looks > 600) await fail(`the daemon has ${descriptors()} descriptors, and had ${before}`);
  await sleep(100);
}
await removeTask();
console.log(`seed ${seed}: ${count} inputs in ${seconds} s; a reader waited ${Math.round(slowest)} ms at most, ${resident() >> 20} MiB`);
daemon.kill("SIGTERM");
await new Promise((resolve) => daemon.once("exit", resolve));
rmSync(directory, { recursive: true, force: true });
