import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { freeze, thaw } from "./end-cgroup.ts";

/** In the place of a cgroup of v2: what the kernel would say is written by the test. */
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-freeze-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const say = (frozen: 0 | 1) => writeFileSync(join(directory, "cgroup.events"), `populated 1\nfrozen ${frozen}\n`);
const asked = () => readFileSync(join(directory, "cgroup.freeze"), "utf8");

test("it is frozen when the kernel says so, and not before", async () => {
  writeFileSync(join(directory, "cgroup.freeze"), "0");
  say(0);
  let isFrozen = false;
  const freezing = freeze(directory).then(() => {
    isFrozen = true;
  });
  await sleep(100);
  expect([asked(), isFrozen]).toEqual(["1", false]);
  say(1);
  await freezing;
  thaw(directory);
  expect(asked()).toBe("0");
});

test("a process that cannot be stopped holds nobody up for ever, and a hierarchy that cannot freeze not at all", async () => {
  await freeze(directory);
  say(0);
  const began = performance.now();
  await freeze(directory);
  expect(performance.now() - began).toBeGreaterThan(500);
});
