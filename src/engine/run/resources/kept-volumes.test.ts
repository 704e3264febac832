import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { TaskRecord } from "../../model/index.ts";
import { Paths } from "../paths.ts";
import { KeptVolumes, type OrphanTask } from "./kept-volumes.ts";

let directory: string;
let paths: Paths;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-kept-"));
  paths = new Paths(directory);
  mkdirSync(paths.kept("g", "data"), { recursive: true });
  writeFileSync(join(paths.kept("g", "data"), "precious"), "");
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const spec = (...names: string[]) => ({ volumes: names.map((kept) => ({ name: kept, kept })) }) as unknown as TaskRecord["spec"];
const deleted = { id: "g.app.2", group: "g", spec: spec("data"), areVolumesAsked: true } as unknown as TaskRecord;
const isThere = () => existsSync(join(paths.kept("g", "data"), "precious"));
const volumesBeside = (tasks: () => Promise<OrphanTask[]>) => new KeptVolumes({ paths, records: new Map(), orphans: { tasks } });

test.each([
  ["names it", "g", spec("data"), true],
  ["may name it, as nobody knows", "g", undefined, true],
  ["names another one", "g", spec("other"), false],
  ["is of another group", "other", spec("data"), false],
])("a volume of a deleted task, and a container that the store does not know %s", async (_, group, own, stays) => {
  const volumes = volumesBeside(async () => [{ id: "g.db.1", group, spec: own }]);
  await volumes.release(deleted);
  expect(isThere()).toBe(stays);
  const told = await volumes.withLeft({ tasks: [], missing: [], forgotten: [], others: [], pools: [], volumes: ["data"] }, [], "g");
  expect(told.volumes).toEqual(stays ? [] : ["data"]);
});

test("while containers that the store does not know cannot be listed, the volume stays and its name is told", async () => {
  let isBroken = true;
  const volumes = volumesBeside(async () => {
    if (isBroken) throw new Error("EMFILE: too many open files");
    return [];
  });
  await expect(volumes.release(deleted)).rejects.toThrow(/^volumes stay \(data\): .*EMFILE/);
  expect(isThere()).toBe(true);
  isBroken = false;
  await volumes.release(deleted);
  expect(isThere()).toBe(false);
});
