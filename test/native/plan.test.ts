/** Broken plans: refused as a whole, before anything is done. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { type Actor, OPS } from "../../src/shared/protocol/index.ts";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init, intermediate, packPlan } from "../support/pack.ts";
import { container, PROC } from "../support/plans.ts";
import { isRoot } from "../support/variants.ts";

const EBADMSG = 74;
const EPROTONOSUPPORT = 93;
const DECODE = join(import.meta.dirname, "../../build/test/decode");

function patched(offset: number, value: number): Buffer {
  const plan = packPlan([init("hostname.set", { name: "x" }), intermediate("process.clone")]);
  plan.writeUInt32LE(value, offset);
  return plan;
}

describe.skipIf(!isRoot)("a broken plan is refused", () => {
  test.each([
    ["wrong magic", patched(0, 1), EBADMSG],
    ["another version", patched(4, 99), EPROTONOSUPPORT],
    ["length beyond the end", patched(8, 0xffff_ffff), EBADMSG],
    ["more operations than there are", patched(12, 0xffff_ffff), EBADMSG],
    ["fewer operations than there are", patched(12, 1), EBADMSG],
    ["four billion slots", patched(16, 0xffff_fffe), EBADMSG],
    ["unknown operation", patched(20, 12345), EBADMSG],
    ["unknown actor", patched(24, 2), EBADMSG],
    ["operation of another actor", patched(24, 0), EBADMSG],
    ["payload beyond the end", patched(32, 0xffff_fff0), EBADMSG],
    ["string longer than the payload", patched(36, 0xffff_ffff), EBADMSG],
    ["string without its NUL", patched(36, 0), EBADMSG],
    ["nothing at all", Buffer.alloc(0), EBADMSG],
    ["header only, counting one", packPlan([]).fill(1, 12, 13), EBADMSG],
    ["NUL inside a string", packPlan([intermediate("process.clone"), init("hostname.set", { name: "a\0b" })]), EBADMSG],
    ["init without a clone", packPlan([init("session.create")]), EBADMSG],
    ["two clones", packPlan([intermediate("process.clone"), intermediate("process.clone")]), EBADMSG],
    ["intermediate after the clone", packPlan([intermediate("process.clone"), intermediate("proc.open")]), EBADMSG],
    ["slot out of range", packPlan([intermediate("file.open", { path: "/", slot: 9 })], 9), EBADMSG],
    ["bool of 2", packPlan([intermediate("mount.open", { source: "/", recursive: 2 as unknown as boolean, slot: 5 })]), EBADMSG],
  ])("%s", (_, plan, errno) => {
    const { error, status } = runPlan(plan);
    expect(error).toMatchObject({ errno, op: -1 });
    expect(status).toBe(1);
  });

  test("one that is not sealed is copied: it is truncated as soon as init exists", () => {
    const root = makeRootfs();
    onTestFinished(() => rmSync(root, { recursive: true, force: true }));
    const { error, stdout } = runPlan(container({ root, script: "echo alive" }), { env: { DRIVE_UNSEALED: "1" } });
    expect(error).toBeUndefined();
    expect(stdout).toBe("alive\n");
  });

  test("every truncation, and a hundred thousand mutations under the sanitizers", () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-decode-"));
    const one = Object.entries(OPS).flatMap(([op, { actors, fields }]) => {
      const actor = (["intermediate", "init"] as const).find((name) => (actors as readonly Actor[]).includes(name));
      if (actor === undefined || op === "process.clone") return [];
      const args = Object.fromEntries(Object.entries(fields).map(([name, type]) => [name, SAMPLES[type]]));
      return [{ op: op as keyof typeof OPS, actor, args }];
    });
    const plan = [
      ...one.filter(({ actor }) => actor === "intermediate"),
      intermediate("process.clone", { flags: 1 }),
      ...one.filter(({ actor }) => actor === "init"),
    ];
    writeFileSync(join(directory, "plan"), packPlan(plan));
    const result = spawnSync(DECODE, [join(directory, "plan"), "100000"], { encoding: "utf8" });
    rmSync(directory, { recursive: true });
    expect(result.stderr).toBe("");
    expect(result.status).toBe(0);
  });
});

const SAMPLES = { u32: 7, bool: true, slot: 5, u64: 9n, i64: -9n, str: "text", strs: ["a", "", "ccc"], u32s: [1, 2, 3] };

describe.skipIf(!isRoot)("size has no limit of ours", () => {
  let root: string;
  beforeAll(() => {
    root = makeRootfs();
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  test("an environment entry of 128 KiB", () => {
    const { stdout, error } = runPlan(container({ root, env: [`BIG=${"x".repeat(131_000)}`], script: "echo $BIG | wc -c" }));
    expect(error).toBeUndefined();
    expect(stdout.trim()).toBe("131001");
  });

  test("2,000 mounts in 2,000 slots under a soft limit of 256 descriptors, which the program has again", () => {
    const slots = Array.from({ length: 2000 }, (_, index) => index + 5);
    const plan = container({
      root,
      intermediate: slots.map((slot) => intermediate("mount.open", { source: "/etc/hostname", slot })),
      mounts: [PROC, ...slots.map((slot) => init("mount.bind", { slot, target: `/many/${slot}`, create: 2 }))],
      script: "ulimit -n; grep -c /many/ /proc/self/mountinfo",
    });
    const { stdout, error } = runPlan(plan, { soft: 256 });
    expect(error).toBeUndefined();
    expect(stdout.trim().split("\n")).toEqual(["256", "2000"]);
  });

  test("a limit that the runtime sets after `ready` is the program's", () => {
    const slots = Array.from({ length: 400 }, (_, index) => index + 5);
    const plan = container({
      root,
      intermediate: slots.map((slot) => intermediate("file.open", { path: "/dev/null", flags: 0, slot })),
      script: "ulimit -n",
    });
    expect(runPlan(plan, { soft: 128, driver: ["--rlimit", "77"] }).stdout.trim()).toBe("77");
  });
});
