/** This process has no more descriptors, or the host has none, while it looks at what may be running. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Container } from "./container.ts";
import { Directory } from "./directory.ts";
import { isEmptyNow, processesIn } from "./process/cgroups.ts";
import { isAlive, mayBeAlive, processStat, readProc } from "./process/procfs.ts";
import type { Runtime } from "./runtime/client.ts";

const shortage = vi.hoisted(() => ({ code: "", of: /^$/ }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const opened = (path: unknown) => {
    if (shortage.code !== "" && shortage.of.test(String(path)))
      throw Object.assign(new Error(`${shortage.code}: open '${path}'`), { code: shortage.code });
  };
  const readFileSync = (path: string, ...rest: []) => {
    opened(path);
    return fs.readFileSync(path, ...rest);
  };
  const openSync = (path: string, flags: number, mode?: number) => {
    opened(path);
    return fs.openSync(path, flags, mode);
  };
  return { ...fs, openSync, readFileSync };
});

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-shortage-"));
});
afterEach(() => {
  shortage.code = "";
  rmSync(directory, { recursive: true });
});

function without(code: string, of: RegExp): void {
  Object.assign(shortage, { code, of });
}

const self = () => ({ pid: process.pid, startTicks: processStat(process.pid)!.startTicks });

test.each(["EMFILE", "ENFILE", "ENOMEM", "EIO"])("%s does not say that a process has ended", (code) => {
  const own = self();
  without(code, /^\/proc\/\d+\//);
  for (const look of [() => isAlive(own), () => processStat(own.pid), () => readProc(own.pid, "cgroup")]) expect(look).toThrow(code);
  if (code !== "EIO") expect(mayBeAlive(own)).toBe(true);
});

test.each(["ENOENT", "ESRCH", "EACCES"])("%s says that it has ended, or that it is another user's", (code) => {
  const own = self();
  without(code, /^\/proc\/\d+\//);
  expect([isAlive(own), mayBeAlive(own), readProc(own.pid, "cgroup")]).toEqual([false, false, undefined]);
});

test("a cgroup that cannot be read is not empty, and one that is gone is", () => {
  writeFileSync(join(directory, "cgroup.procs"), "7\n");
  expect([processesIn([directory]), isEmptyNow(directory), isEmptyNow(join(directory, "none"))]).toEqual([[7], false, true]);
  without("EMFILE", /cgroup\.procs$/);
  expect(() => processesIn([directory])).toThrow("EMFILE");
  expect(isEmptyNow(directory)).toBe(false);
});

test("a container whose monitor cannot be looked at is not removed, and is looked at again", async () => {
  const removed = vi.fn(async () => {});
  const container = new Container(new Directory(directory, "x"), { delete: removed } as unknown as Runtime);
  mkdirSync(join(directory, "x"));
  const record = { schema: 1, id: "x", root: "/", phase: "running", ...self(), monitor: self() };
  writeFileSync(container.directory.record, JSON.stringify(record), { mode: 0o600 });
  expect(await container.look()).toEqual({ now: "running" });
  for (const code of ["EMFILE", "ENFILE", "ENOMEM"]) {
    without(code, /^\/proc\/\d+\/stat$/);
    expect(await container.look()).toEqual({ now: "unknown" });
  }
  without("EMFILE", /record\.json$/);
  expect(await container.look()).toEqual({ now: "unknown" });
  without("", /^$/);
  expect(await container.look()).toEqual({ now: "running" });
  expect(removed).not.toHaveBeenCalled();
});
