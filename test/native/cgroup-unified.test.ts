/** What the cgroup layer does with a v2 tree, on one that the host has (a hybrid host's has no controllers; none is needed here). */
import { type ChildProcess, spawn } from "node:child_process";
import { chownSync, existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { delegateCgroup } from "../../src/runtime/cgroup/driver/create.ts";
import { waitForEvent } from "../../src/runtime/cgroup/driver/wait.ts";
import {
  type CgroupRef,
  cgroupProcesses,
  deleteCgroup,
  freeze,
  isFrozen,
  killCgroup,
  markContainer,
  refuseUsed,
  thaw,
} from "../../src/runtime/cgroup/index.ts";

const TREE = ["/sys/fs/cgroup/unified", "/sys/fs/cgroup"].find((path) => existsSync(`${path}/cgroup.subtree_control`));
const possible = process.geteuid?.() === 0 && TREE !== undefined;

/** No init: what proves that a cgroup is its own is the mark. */
const OWNER = { mark: { root: "/run/runt-native", id: "native" }, init: () => 0 };
const NOBODY = { stuck: [], others: [], unseen: 0 };

describe.skipIf(!possible)("cgroup v2 (needs root and a cgroup2 mount)", () => {
  const directory = `${TREE}/runt-unified-${process.pid}`;
  const cgroup: CgroupRef = { version: 2, paths: [directory] };
  let child: ChildProcess | undefined;

  function enter(path = directory): number {
    child = spawn("sleep", ["60"], { stdio: "ignore" });
    writeFileSync(`${path}/cgroup.procs`, String(child.pid));
    return child.pid ?? 0;
  }

  beforeEach(() => mkdirSync(directory));
  afterEach(() => {
    child?.kill("SIGKILL");
    child = undefined;
    deleteCgroup(cgroup, OWNER);
    expect(existsSync(directory)).toBe(false);
  });

  test("a freeze is confirmed by cgroup.events, and a thaw shows there", () => {
    enter();
    freeze(cgroup, OWNER);
    expect([isFrozen(cgroup), waitForEvent(directory, "frozen 1", 0)]).toEqual([true, true]);
    expect(waitForEvent(directory, "frozen 0", 20)).toBe(false);
    thaw(cgroup, OWNER);
    expect([isFrozen(cgroup), waitForEvent(directory, "frozen 0", 1_000)]).toEqual([false, true]);
  });

  test("below a frozen cgroup a thaw counts as soon as the cgroup itself asks for nothing else", () => {
    mkdirSync(`${directory}/a`);
    enter(`${directory}/a`);
    const below: CgroupRef = { version: 2, paths: [`${directory}/a`] };
    freeze(cgroup, OWNER);
    freeze(below, OWNER);
    thaw(below, OWNER);
    expect([isFrozen(below), isFrozen(cgroup), waitForEvent(`${directory}/a`, "frozen 1", 0)]).toEqual([false, true, true]);
    thaw(cgroup, OWNER);
    expect(waitForEvent(`${directory}/a`, "frozen 0", 1_000)).toBe(true);
  });

  test("a cgroup that is gone has nothing to wait for", () => {
    expect(waitForEvent(`${directory}/absent`, "populated 0", 1000)).toBe(true);
  });

  test("kill reaches nested cgroups, frozen ones too", () => {
    mkdirSync(`${directory}/a`);
    mkdirSync(`${directory}/a/b`);
    const pid = enter(`${directory}/a/b`);
    freeze({ version: 2, paths: [`${directory}/a`] }, OWNER);
    expect(cgroupProcesses(cgroup)).toEqual([pid]);
    expect(killCgroup(cgroup, OWNER)).toEqual({ stuck: [], others: [pid], unseen: 0 });
    expect(waitForEvent(directory, "populated 0", 0)).toBe(false);
    markContainer(directory, OWNER.mark);
    expect(killCgroup(cgroup, OWNER)).toEqual(NOBODY);
    expect(waitForEvent(directory, "populated 0", 0)).toBe(true);
  });

  test("processes of a threaded cgroup are found and killed", () => {
    mkdirSync(`${directory}/threads`);
    writeFileSync(`${directory}/threads/cgroup.type`, "threaded");
    const pid = enter(`${directory}/threads`);
    const threaded: CgroupRef = { version: 2, paths: [`${directory}/threads`] };
    expect(cgroupProcesses(threaded)).toEqual([pid]);
    expect(() => refuseUsed(threaded)).toThrow("container's cgroup is not empty: 1 process(es) found");
    markContainer(`${directory}/threads`, OWNER.mark);
    expect(killCgroup(threaded, OWNER)).toEqual(NOBODY);
    deleteCgroup(threaded, OWNER);
  });

  test("delete waits for processes that are about to end", () => {
    const pid = enter();
    process.kill(pid, "SIGKILL");
    deleteCgroup(cgroup, OWNER);
    expect(existsSync(directory)).toBe(false);
  });

  const owned = (uid: number) => readdirSync(directory).filter((name) => statSync(join(directory, name)).uid === uid);

  test("delegation gives the directory and the listed files, nothing else", () => {
    expect(delegateCgroup(directory, 12_345)).toBeUndefined();
    expect(statSync(directory)).toMatchObject({ uid: 12_345, gid: 0 });
    expect(owned(12_345)).toEqual(expect.arrayContaining(["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"]));
    expect(owned(0)).toEqual(expect.arrayContaining(["cgroup.controllers", "cgroup.max.depth", "cgroup.freeze"]));
    chownSync(directory, 0, 0);
  });

  test("delegation without the kernel's list", () => {
    delegateCgroup(directory, 12_345, join(tmpdir(), "no-such-list"));
    expect(owned(12_345).sort()).toEqual(["cgroup.procs", "cgroup.subtree_control", "cgroup.threads"]);
  });

  test("delegation by a list with files that this cgroup lacks", () => {
    const list = join(tmpdir(), `runt-delegate-${process.pid}`);
    writeFileSync(list, "cgroup.procs\nmemory.absent\n");
    delegateCgroup(directory, 12_345, list);
    rmSync(list);
    expect(owned(12_345)).toEqual(["cgroup.procs"]);
  });

  test("a cgroup that is not there cannot be handed over", () => {
    expect(() => delegateCgroup(`${directory}/absent`, 1)).toThrow(`cannot give ${directory}/absent to uid 1`);
  });
});
