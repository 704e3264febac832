import type { readFileSync } from "node:fs";
import { expect, test, vi } from "vitest";
import { processStat } from "../../own/index.ts";
import { isEnding } from "./holder.ts";

const failing = vi.hoisted(() => ({ code: "" }));
vi.mock("node:fs", async (original) => {
  const fs = await original<typeof import("node:fs")>();
  const read = (...args: Parameters<typeof readFileSync>) => {
    if (failing.code !== "") throw Object.assign(new Error(failing.code), { code: failing.code });
    return fs.readFileSync(...args);
  };
  return { ...fs, readFileSync: read };
});

test("a holder that cannot be looked at for want of descriptors is not taken for one that ends; one that is gone is", () => {
  const own = { pid: process.pid, startTicks: processStat(process.pid)!.startTicks };
  expect([isEnding(own), isEnding({ ...own, startTicks: "1" })]).toEqual([false, true]);
  failing.code = "EMFILE";
  expect(() => isEnding(own)).toThrow("EMFILE");
  failing.code = "ESRCH";
  expect(isEnding(own)).toBe(true);
});
