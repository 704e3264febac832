/**
 * Many processes one after the other under one container, as probes and health checks are: as many as 30 a second make in RUNT_TEST_SECONDS (10),
 * in a longer time where others have the processors, leave no descriptor, zombie, cgroup, mount or file behind, and the monitor of the container
 * does not grow.
 */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, test } from "vitest";
import { Client } from "../clients/client.ts";
import { cgroupOf } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, SLOW, useHarness } from "../support/harness.ts";

const SECONDS = Number(process.env["RUNT_TEST_SECONDS"] ?? 10);
const PER_SECOND = 30;
/** The resident pages of a process that sleeps are counted per CPU, so not to the page. */
const NOISE_KB = 64;

describe.skipIf(!isRoot || !isRunt)("an exec storm (needs root)", () => {
  const { bundle, directory, id, root, until } = useHarness();
  let client: Client | undefined;
  afterEach(() => client?.end());

  const runt = (...words: readonly string[]) => [RUNTIME, "--root", root, ...words];

  /** Kinds of exec that take turns; each returns when its process has ended with the status that it was to have. */
  const KINDS: readonly ((engine: Client, name: string, round: number) => Promise<void>)[] = [
    async function foreground(engine, name) {
      expect(await engine.run(runt("exec", name, "sh", "-c", "exit 7"))).toEqual({ status: 7, text: "" });
    },
    async function detached(engine, name, round) {
      const pidFile = join(directory, `exec-${round}.pid`);
      const output = engine.pipe();
      const started = await engine.start(runt("exec", "--detach", "--pid-file", pidFile, name, "sh", "-c", "exit 8"), {
        stdio: ["null", output, output],
      });
      expect(await started.status).toBe(0);
      expect(await engine.exited(Number(readFileSync(pidFile, "utf8")))).toBe(8);
      expect(await output.all()).toBe("");
      rmSync(pidFile);
    },
    async function onTerminal(engine, name) {
      const terminal = engine.terminal(24, 80);
      const { status } = await engine.start(runt("exec", "--tty", name, "sh", "-c", "test -t 0 && exit 9"), {
        stdio: [terminal, terminal, terminal],
        ownSession: true,
      });
      expect(await status).toBe(9);
      await terminal.all();
    },
    async function failing(engine, name) {
      expect(await engine.run(runt("exec", name, "nowhere"))).toMatchObject({ status: 255 });
    },
  ];

  test(`${SECONDS * PER_SECOND} exec, ${PER_SECOND} a second, leave nothing`, { timeout: (SECONDS + 10) * 30_000 * SLOW }, async () => {
    const engine = new Client();
    client = engine;
    const name = id();
    const path = bundle((config) => {
      config.process.args = ["/bin/sleep", "100000"];
    });
    const monitor = await engine.start(runt("run", "--bundle", path, "--pid-file", join(path, "pid"), name), {
      stdio: ["null", "null", "null"],
    });
    await until(name, "running");
    // The program runs before its pid is written for the caller.
    await expect.poll(() => existsSync(join(path, "pid"))).toBe(true);
    const init = Number(readFileSync(join(path, "pid"), "utf8"));
    const look = () => traces(engine.pid, monitor.pid, init, [root, path]);

    // The first ones make what is made only once: cached pages, a filter.
    for (const [round, kind] of KINDS.entries()) await kind(engine, name, round);
    const before = look();
    const running = new Set<Promise<void>>();
    const failures: unknown[] = [];
    const started = performance.now();
    let count = 0;
    while (count < SECONDS * PER_SECOND) {
      const one = KINDS[count % KINDS.length]!(engine, name, ++count)
        .catch((error: unknown) => failures.push(error))
        .then(() => void running.delete(one));
      running.add(one);
      // No more than a second's worth at a time: a machine that cannot keep up is slower, not full.
      while (running.size >= PER_SECOND) await Promise.race(running);
      await sleep(Math.max(0, started + (count * 1000) / PER_SECOND - performance.now()));
    }
    await Promise.all(running);
    const rate = (count * 1000) / (performance.now() - started);
    console.log(`exec storm: ${count}, ${rate.toFixed(1)} a second`);
    expect(failures).toEqual([]);
    const { memory, ...after } = look();
    const { memory: memoryBefore, ...rest } = before;
    expect(after).toEqual(rest);
    for (const [index, kilobytes] of memory.entries()) expect(kilobytes).toBeLessThanOrEqual((memoryBefore[index] ?? 0) + NOISE_KB);

    expect(await engine.run(runt("kill", name, "KILL"))).toEqual({ status: 0, text: "" });
    expect(await engine.exited(monitor.pid)).toBe(137);
    expect(existsSync(join(root, name))).toBe(false);
  });
});

/** Whatever an exec could leave. */
function traces(client: number, monitor: number, init: number, directories: readonly string[]) {
  return {
    descriptors: [monitor, init].map((pid) => readdirSync(`/proc/${pid}/fd`).length),
    /** Children of the client, also dead ones that nobody has waited for, and what lives in the container. */
    children: readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && parentOf(pid) === client),
    inside: readFileSync(join(cgroupOf(init, "pids"), "cgroup.procs"), "utf8"),
    cgroups: ["pids", "memory", "freezer"].map((controller) => directoriesBelow(dirname(cgroupOf(init, controller)))),
    mounts: [mountsOf(init).length, mountsOf("self").filter((line) => line.includes(directories[0] ?? "")).length],
    files: directories.map((path) => (readdirSync(path, { recursive: true }) as string[]).sort()),
    memory: [monitor, init].map((pid) => Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])),
  };
}

function mountsOf(pid: number | "self"): readonly string[] {
  return readFileSync(`/proc/${pid}/mountinfo`, "utf8").split("\n");
}

function parentOf(pid: string): number {
  try {
    return Number(/\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

function directoriesBelow(path: string): number {
  return readdirSync(path, { withFileTypes: true, recursive: true }).filter((entry) => entry.isDirectory()).length;
}
