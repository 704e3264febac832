import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { observed } from "../../../../test/support/turns.ts";
import type { TaskRecord } from "../../model/index.ts";
import { Paths } from "../paths.ts";
import { KeptVolumes, type OrphanTask } from "./kept-volumes.ts";

/** Readings of whole lists: of the mounts of this process, and of directories. */
const counts = vi.hoisted(() => ({ mounts: 0, directories: 0 }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const counted = (name: "readFileSync" | "readdirSync", count: keyof typeof counts, isCounted: (path: unknown) => boolean) => {
    const call = fs[name] as (...args: unknown[]) => unknown;
    return (...args: unknown[]) => {
      if (isCounted(args[0])) counts[count]++;
      return call(...args);
    };
  };
  return {
    ...fs,
    readFileSync: counted("readFileSync", "mounts", (path) => path === "/proc/self/mountinfo"),
    readdirSync: counted("readdirSync", "directories", () => true),
  };
});

const COUNT = 1000;
let paths: Paths;
beforeEach(() => {
  paths = new Paths(mkdtempSync(join(tmpdir(), "runt-kept-")));
  for (let index = 0; index < COUNT; index++) mkdirSync(paths.kept("g", `v${index}`), { recursive: true, mode: 0o700 });
});
afterEach(() => rmSync(paths.stateDir, { recursive: true, force: true }));

const taskOf = (group: string): TaskRecord =>
  ({ id: `${group}.app.1`, group, spec: { volumes: [{ name: "data", kept: "v1" }] } }) as unknown as TaskRecord;
const volumesOf = (records: readonly TaskRecord[], orphans: readonly OrphanTask[]) =>
  new KeptVolumes({ paths, records: new Map(records.map((one) => [one.id, one])), orphans: { tasks: async () => orphans } });

test("a list of many volumes reads the mounts and each directory once, and lets other work go on", async () => {
  const volumes = volumesOf([taskOf("g"), taskOf("other")], [{ id: "g.db.1", group: "g", spec: undefined }]);
  const { result, turns, most } = await observed(() => volumes.list(), counts);
  expect(result).toHaveLength(COUNT);
  expect(result.find(({ name }) => name === "v1")).toMatchObject({ group: "g", usedBytes: null, tasks: ["g.app.1", "g.db.1"] });
  expect(result.find(({ name }) => name === "v2")?.tasks).toEqual(["g.db.1"]);
  expect(most).toEqual({ mounts: 1, directories: 2 });
  expect(turns).toBeGreaterThan(5);
});

test("a removal of many volumes reads the mounts and the directory once for all of them, and then removes one after the other", async () => {
  const { result, most } = await observed(() => volumesOf([taskOf("g"), taskOf("other")], []).removeUnused("g"), counts);
  expect(result).toHaveLength(COUNT - 1);
  expect(result).not.toContain("v1");
  expect(most["mounts"]).toBeLessThan(10);
  expect(most["directories"]).toBeLessThan(10);
});
