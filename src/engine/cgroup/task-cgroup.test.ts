import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { limitedPages, makeTaskCgroup, removeEmptyLevels, removeTaskCgroup } from "./index.ts";

const directory = mkdtempSync(join(tmpdir(), "runt-task-cgroup-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** A directory that stands for a hierarchy. It contains only the files that are made here. */
const v1 = (name: string, ...controllers: string[]) => {
  const mountpoint = join(directory, name);
  mkdirSync(mountpoint, { recursive: true });
  return { mountpoint, version: 1, controllers } as const;
};

test("T4 every hierarchy of v1 has it; levels above it are marked, and go with the last; what was there before stays", async () => {
  const found = [v1("memory", "memory"), v1("systemd", "name=systemd")];
  mkdirSync(join(directory, "systemd/given"));
  makeTaskCgroup("/given/made/task", [], found);
  makeTaskCgroup("/given/made/task", [], found);
  for (const { mountpoint } of found) {
    expect(statSync(join(mountpoint, "given/made")).mode & 0o7777).toBe(0o1755);
    expect(statSync(join(mountpoint, "given/made/task")).mode & 0o7777).toBe(0o755);
  }
  await removeTaskCgroup("/given/made/task", found);
  await removeTaskCgroup("/given/made/task", found);
  expect(existsSync(join(directory, "memory/given"))).toBe(false);
  expect(existsSync(join(directory, "systemd/given"))).toBe(true);
  expect(existsSync(join(directory, "systemd/given/made"))).toBe(false);
});

test("a level that another task still uses stays", async () => {
  const found = [v1("used", "pids")];
  makeTaskCgroup("/parent/one", [], found);
  makeTaskCgroup("/parent/two", [], found);
  await removeTaskCgroup("/parent/one", found);
  expect(existsSync(join(directory, "used/parent/two"))).toBe(true);
  rmdirSync(join(directory, "used/parent/two"));
  removeEmptyLevels("/parent", found);
  expect(existsSync(join(directory, "used/parent"))).toBe(false);
});

test("a limit whose controller is not there is an error that names it, unless it asks for nothing", () => {
  const found = [v1("lonely", "pids")];
  const limit = { controller: "memory", file: "memory.limit_in_bytes", value: "1" };
  expect(() => makeTaskCgroup("/t", [limit], found)).toThrow("no cgroup hierarchy of this host has the controller memory");
  expect(existsSync(join(directory, "lonely/t"))).toBe(false);
  makeTaskCgroup("/t", [{ ...limit, isOptional: true }], found);
  expect(existsSync(join(directory, "lonely/t"))).toBe(true);
  expect(() => makeTaskCgroup("/t", [{ controller: "pids", file: "pids.max", value: "5" }], found)).toThrow(
    `cannot write 5 to ${directory}/lonely/t/pids.max: ENOENT`,
  );
  expect(() => makeTaskCgroup("/t", [], [])).toThrow("no cgroup hierarchy mounted");
});

test("v2: controllers are handed down from the root to the level above, and only those that a limit needs", () => {
  const mountpoint = join(directory, "v2");
  for (const level of ["", "parent", "parent/task"]) {
    mkdirSync(join(mountpoint, level), { recursive: true });
    writeFileSync(join(mountpoint, level, "cgroup.subtree_control"), "");
  }
  writeFileSync(join(mountpoint, "cgroup.controllers"), "cpu memory pids\n");
  writeFileSync(join(mountpoint, "parent/task/memory.max"), "");
  makeTaskCgroup(
    "/parent/task",
    [{ controller: "memory", file: "memory.max", value: "4096" }],
    [{ mountpoint, version: 2, controllers: [] }],
  );
  for (const level of ["", "parent"]) expect(readFileSync(join(mountpoint, level, "cgroup.subtree_control"), "utf8")).toBe("+memory");
  expect(readFileSync(join(mountpoint, "parent/task/cgroup.subtree_control"), "utf8")).toBe("");
  expect(readFileSync(join(mountpoint, "parent/task/memory.max"), "utf8")).toBe("4096");
});

test("huge pages have the sizes of the kernel, where there is the controller", () => {
  const pages = join(directory, "pages");
  for (const name of ["hugepages-64kB", "hugepages-2048kB", "hugepages-1048576kB", "other"])
    mkdirSync(join(pages, name), { recursive: true });
  expect(limitedPages([v1("memory-only", "memory")], pages)).toEqual([]);
  expect(limitedPages([v1("huge", "hugetlb")], join(directory, "none"))).toEqual([]);
  expect(limitedPages([v1("huge", "hugetlb")], pages).sort()).toEqual(["1GB", "2MB", "64KB"]);
});
