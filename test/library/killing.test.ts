/** The cgroup of an exec (v2, here also on a host that has only its core), and processes by descent. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { descendants, killDescendants } from "../../src/executor/exec/kill.ts";
import { type Cgroup, hierarchies, makeSubCgroup, processesIn, removeSubCgroup } from "../../src/executor/process/cgroups.ts";
import { processStat } from "../../src/executor/process/procfs.ts";
import { CGROUP_PARENT, isGone, isRoot, until } from "./support.ts";

const unified = hierarchies().find(({ version }) => version === 2)?.mountpoint;

describe.skipIf(!isRoot || unified === undefined)("a cgroup of v2 (needs root and a cgroup2 mount)", () => {
  const parent = join(unified ?? "", `${CGROUP_PARENT}-killing`);
  afterEach(() => {
    if (existsSync(parent)) rmdirSync(parent);
  });

  test("it is below the container's, and goes when nobody is in it: that one, not another of its name", async () => {
    mkdirSync(parent);
    const cgroup: Cgroup = { version: 2, paths: [parent] };
    const sub = makeSubCgroup(cgroup, "exec-1")!;
    expect(sub).toMatchObject({ directory: `${parent}/exec-1`, flag: "/exec-1" });
    const child = spawn("sleep", ["1000"], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", resolve));
    writeFileSync(`${sub.directory}/cgroup.procs`, String(child.pid));
    await until(() => processesIn([parent]).length === 1);
    // Somebody is there: it stays.
    await removeSubCgroup(sub);
    expect(existsSync(sub.directory)).toBe(true);
    child.kill("SIGKILL");
    await ended;
    await removeSubCgroup({ ...sub, identity: "1:1" });
    expect(existsSync(sub.directory)).toBe(true);
    await removeSubCgroup(sub);
    expect(readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
  });

  test("a name that is taken, or a cgroup that is gone, is none", () => {
    mkdirSync(parent);
    mkdirSync(join(parent, "taken"));
    expect(makeSubCgroup({ version: 2, paths: [parent] }, "taken")).toBeUndefined();
    rmdirSync(join(parent, "taken"));
    expect(makeSubCgroup({ version: 2, paths: [`${parent}/absent`] }, "x")).toBeUndefined();
    expect(processesIn([`${parent}/absent`])).toEqual([]);
  });
});

describe("processes by descent", () => {
  test("all that still descend from it are killed", async () => {
    const child = spawn("sh", ["-c", "sleep 1000 & sh -c 'sleep 1000 & sleep 1000; true'; true"], { stdio: "ignore" });
    const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    const root = processStat(child.pid!)!;
    const isSleep = ({ pid }: { readonly pid: number }) => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n";
    await until(async () => (await descendants(root)).filter(isSleep).length === 3);
    const pids = (await descendants(root)).map(({ pid }) => pid);
    expect(pids).toHaveLength(5);
    // Another process that has got the pid is not its end.
    expect(await descendants({ ...root, startTicks: "1" })).toEqual([]);
    await killDescendants(child.pid!);
    expect(await ended).toBe("SIGKILL");
    await until(() => pids.every(isGone));
  });

  test("other work goes on while there are very many", async () => {
    const child = spawn("sh", ["-c", "i=0; while [ $i -lt 300 ]; do sleep 1000 & i=$((i + 1)); done; exec sleep 1000"], {
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => child.once("exit", (_, signal) => resolve(signal)));
    const root = processStat(child.pid!)!;
    await until(() => readFileSync(`/proc/${root.pid}/comm`, "utf8") === "sleep\n");
    const count = (await descendants(root)).length;
    expect(count).toBe(301);
    let turns = 0;
    let isOver = false;
    const turn = () => {
      turns++;
      if (!isOver) setImmediate(turn);
    };
    setImmediate(turn);
    await killDescendants(root.pid);
    isOver = true;
    // Two passes, which read two files of each, and the signals.
    expect(turns).toBeGreaterThan((2 * count) / 128);
    expect(await ended).toBe("SIGKILL");
  });
});
