/** The cgroup layer on the host's real hierarchies. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import {
  type CgroupRef,
  cgroupDirectories,
  cgroupProcesses,
  createCgroup,
  deleteCgroup,
  execJoin,
  freeze,
  isFrozen,
  killCgroup,
  markContainer,
  markedParents,
  readHierarchies,
  refuseUsed,
  thaw,
  updateCgroup,
  writeCgroupFile,
} from "../../src/runtime/cgroup/index.ts";

const facts = readHierarchies();
const possible = process.geteuid?.() === 0 && facts.hierarchies.length > 0;
const parent = `/runt-effects-${process.pid}`;

function reference(path: string): CgroupRef {
  return { version: facts.version, paths: cgroupDirectories(facts, path) };
}

function create(path: string): CgroupRef {
  const cgroup = reference(path);
  for (const directory of cgroup.paths) createCgroup(directory);
  return cgroup;
}

/** No init: what proves that a cgroup is its own is the mark on the first directory. */
const OWNER = { mark: { root: "/run/runt-native", id: "native" }, init: () => 0 };
const NOTHING = { hugepageLimits: [], rdma: {}, unified: {}, devices: [] };

describe.skipIf(!possible)("cgroups (needs root and a mounted hierarchy)", () => {
  let child: ChildProcess | undefined;
  let cgroup: CgroupRef;

  function enter(): number {
    child = spawn("sleep", ["60"], { stdio: "ignore" });
    const { pid = 0 } = child;
    for (const path of cgroup.paths) writeFileSync(`${path}/cgroup.procs`, String(pid));
    return pid;
  }

  beforeEach(() => {
    cgroup = create(`${parent}/a`);
  });

  afterEach(() => {
    child?.kill("SIGKILL");
    child = undefined;
    deleteCgroup(cgroup, OWNER);
    expect(reference(parent).paths.filter((path) => existsSync(path))).toEqual([]);
  });

  test("every level is made, and the last container takes the common one along", () => {
    const other = create(`${parent}/b/c`);
    expect(other.paths.every((path) => existsSync(path))).toBe(true);
    deleteCgroup(other, OWNER);
    expect(other.paths.some((path) => existsSync(path.slice(0, -2)))).toBe(false);
    expect(cgroup.paths.every((path) => existsSync(path))).toBe(true);
    expect(cgroup.paths.flatMap(markedParents)).toEqual(reference(parent).paths);
  });

  test("levels that were missing are removed even when a crash left them without a mark", () => {
    const crashed = reference(`${parent}/b/c/d`);
    const { missing = [] } = refuseUsed(crashed);
    // The first level is there already, and runt's own.
    expect(missing).toEqual(crashed.paths.flatMap((path) => [path.slice(0, -2), path.slice(0, -4), path.slice(0, -6)]));
    const made = missing.filter((path) => !existsSync(path));
    for (const path of made.toReversed()) mkdirSync(path);
    deleteCgroup(crashed, OWNER);
    expect(made.every((path) => existsSync(path))).toBe(true);
    deleteCgroup({ ...crashed, missing }, OWNER);
    expect(missing.filter((path) => existsSync(path))).toEqual(reference(parent).paths);
  });

  test("making and deleting twice is fine", () => {
    create(`${parent}/a`);
    deleteCgroup(cgroup, OWNER);
    deleteCgroup(cgroup, OWNER);
  });

  test("what was there before stays, without the cgroups below it", () => {
    const before = refuseUsed(cgroup);
    expect(before).toEqual({ missing: [], kept: cgroup.paths });
    for (const path of cgroup.paths) createCgroup(`${path}/inner/deep`);
    deleteCgroup({ ...cgroup, ...before }, OWNER);
    expect(cgroup.paths.every((path) => existsSync(path) && !existsSync(`${path}/inner`))).toBe(true);
  });

  test("cgroups below are removed with it", () => {
    for (const path of cgroup.paths) createCgroup(`${path}/inner/deep`);
  });

  test("a new cpuset can take processes", () => {
    const directory = cgroup.paths.find((path) => existsSync(`${path}/cpuset.cpus`));
    if (directory === undefined || facts.version === 2) return;
    expect(readFileSync(`${directory}/cpuset.cpus`, "utf8").trim()).not.toBe("");
  });

  test("a cpuset that somebody has made and left empty is filled, one with CPUs is not", () => {
    const directory = cgroup.paths.find((path) => existsSync(`${path}/cpuset.cpus`));
    if (directory === undefined || facts.version === 2) return;
    mkdirSync(`${directory}/empty`);
    createCgroup(`${directory}/empty/leaf`);
    expect(readFileSync(`${directory}/empty/leaf/cpuset.cpus`, "utf8").trim()).not.toBe("");
    mkdirSync(`${directory}/set`);
    writeFileSync(`${directory}/set/cpuset.cpus`, "0");
    createCgroup(`${directory}/set`);
    expect(readFileSync(`${directory}/set/cpuset.cpus`, "utf8")).toBe("0\n");
    expect(readFileSync(`${directory}/set/cpuset.mems`, "utf8").trim()).not.toBe("");
  });

  test("processes are found, refused, frozen, thawed and killed", () => {
    const pid = enter();
    expect(cgroupProcesses(cgroup)).toEqual([pid]);
    expect(() => refuseUsed(cgroup)).toThrow("container's cgroup is not empty: 1 process(es) found");
    freeze(cgroup, OWNER);
    expect(isFrozen(cgroup)).toBe(true);
    thaw(cgroup, OWNER);
    expect(isFrozen(cgroup)).toBe(false);
    freeze(cgroup, OWNER);
    expect(killCgroup(cgroup, OWNER)).toEqual({ stuck: [], others: [pid], unseen: 0 });
    expect([cgroupProcesses(cgroup), isFrozen(cgroup)]).toEqual([[pid], true]);
    markContainer(cgroup.paths[0] ?? "", OWNER.mark);
    expect(killCgroup(cgroup, OWNER)).toEqual({ stuck: [], others: [], unseen: 0 });
    expect(cgroupProcesses(cgroup)).toEqual([]);
  });

  test("below a frozen cgroup a thaw counts as soon as the cgroup itself asks for nothing else", () => {
    const above = reference(parent);
    enter();
    freeze(above, OWNER);
    try {
      freeze(cgroup, OWNER);
      thaw(cgroup, OWNER);
      const own = facts.version === 2 ? "cgroup.freeze" : "freezer.self_freezing";
      const directory = cgroup.paths.find((path) => existsSync(`${path}/${own}`));
      expect(readFileSync(`${directory}/${own}`, "utf8")).toBe("0\n");
    } finally {
      thaw(above, OWNER);
    }
    expect(isFrozen(cgroup)).toBe(false);
  });

  test("another container's cgroup is neither frozen nor thawed, and gets no limits and no process", () => {
    markContainer(cgroup.paths[0] ?? "", { ...OWNER.mark, id: "other" });
    try {
      for (const act of [
        () => freeze(cgroup, OWNER),
        () => thaw(cgroup, OWNER),
        () => updateCgroup(cgroup, OWNER, NOTHING, { tellLimits: (_, writes) => ({ writes, undo: () => {} }) }),
        () => execJoin(cgroup, OWNER, process.pid, []),
      ]) {
        expect(act).toThrow("is another container's by now");
      }
      // It has this one with others.
      expect(() => freeze({ ...cgroup, kept: cgroup.paths }, OWNER)).not.toThrow();
      thaw({ ...cgroup, kept: cgroup.paths }, OWNER);
    } finally {
      markContainer(cgroup.paths[0] ?? "", OWNER.mark);
    }
  });

  test("an unused cgroup is not refused, a frozen one is", () => {
    refuseUsed(cgroup);
    refuseUsed(reference(`${parent}/absent`));
    freeze(cgroup, OWNER);
    expect(() => refuseUsed(cgroup)).toThrow("container's cgroup unexpectedly frozen");
    thaw(cgroup, OWNER);
  });

  test("a refused value is named with its file and pointer", () => {
    const directory = cgroup.paths[0];
    expect(() => writeCgroupFile(`${directory}/absent.max`, "5", "/linux/resources/x")).toThrow(
      `cannot write "5" to ${directory}/absent.max`,
    );
  });

  test("a weight goes to the file that the kernel has", () => {
    const directory = cgroup.paths.find((path) => path.includes("/blkio/"));
    if (directory === undefined) return;
    writeCgroupFile(`${directory}/blkio.bfq.weight`, "300", "");
  });
});
