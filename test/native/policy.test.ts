/** How the kernel treats the process: scheduling, I/O priority, memory policy, personality, CPUs. All of it is still there after execve. */
import { copyFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { getPriority } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { OpArgs } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate, type TestOp } from "../support/pack.ts";
import { CLONE_NEW, container, NAMESPACES } from "../support/plans.ts";
import { program } from "../support/programs.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const EPERM = 1;
const EINVAL = 22;
const [FIFO, BATCH, ISO, IDLE, DEADLINE] = [1, 3, 4, 5, 6];
const [RESET_ON_FORK, RECLAIM] = [1, 2];
/** What a test inherits: CI may run at another nice value than 0, and only who has the right for it gets below. */
const NICE = getPriority();
const NICER = Math.min(NICE + 1, 19);
/** A cgroup of v1 without a share of real time, such as a session's, refuses it to root as well (sched_rt_group of the kernel's documentation). */
function hasRealTime(): boolean {
  const group = /^\d+:(?:[^:]*,)?cpu(?:,[^:]*)?:(.*)$/m.exec(readFileSync("/proc/self/cgroup", "utf8"))?.[1];
  const share = `/sys/fs/cgroup/cpu${group}/cpu.rt_runtime_us`;
  return group === undefined || !existsSync(share) || Number(readFileSync(share, "utf8")) !== 0;
}
const hasNuma = existsSync("/proc/self/numa_maps");

describe.skipIf(!isRoot).each(VARIANTS)("policies: %s", (_, options) => {
  let root: string;
  beforeEach(() => {
    root = makeRootfs();
    copyFileSync(program("scheduling"), join(root, "bin/scheduling"));
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  const run = (
    process: readonly TestOp[],
    script: string,
    parts: { namespaces?: number; first?: TestOp[]; intermediate?: TestOp[] } = {},
  ): Outcome => runPlan(container({ root, process: [...process, init("process.cwd", { path: "/" })], script, ...parts }), options);
  function output(...args: Parameters<typeof run>): string {
    const { error, stdout, stderr } = run(...args);
    expect([error, stderr]).toEqual([undefined, ""]);
    return stdout.trimEnd();
  }
  const scheduler = (args: Partial<OpArgs<"process.scheduler">>): TestOp => init("process.scheduler", args);

  test.each<[string, Partial<OpArgs<"process.scheduler">>, string]>([
    ["a nice value", { nice: -7n }, "policy=0 flags=0 nice=-7 priority=0"],
    ["batch, for this process only", { policy: BATCH, nice: 19n, flags: RESET_ON_FORK }, "policy=3 flags=1 nice=19 priority=0"],
    ["idle", { policy: IDLE }, `policy=5 flags=0 nice=${NICE} priority=0`],
    ["real time", { policy: FIFO, priority: 42 }, "policy=1 flags=0 nice=0 priority=42"],
    [
      "a deadline",
      { policy: DEADLINE, flags: RESET_ON_FORK | RECLAIM, runtime: 1_000_000n, deadline: 20_000_000n, period: 40_000_000n },
      "policy=6 flags=3 nice=0 priority=0 runtime=1000000 deadline=20000000 period=40000000",
    ],
  ])("%s", (name, args, expected) => {
    if (name === "real time" && !hasRealTime()) return expect(run([scheduler(args)], ":").error).toMatchObject({ errno: EPERM });
    expect(output([scheduler(args)], "exec scheduling 0")).toContain(expected);
  });

  test("a policy the kernel has not, and one without the right for it", () => {
    expect(run([scheduler({ policy: ISO })], ":").error).toMatchObject({ errno: EINVAL, text: "sched_setattr" });
    const user = init("process.user", { uid: 1000, gid: 1000 });
    expect(run([user, scheduler({ policy: FIFO, priority: 1 })], ":").error).toMatchObject({ errno: EPERM, text: "sched_setattr" });
    expect(output([user, scheduler({ policy: BATCH, nice: BigInt(NICER) })], "exec scheduling 0")).toContain(
      `policy=3 flags=0 nice=${NICER} `,
    );
  });

  test.each([
    [1, 0],
    [1, 7],
    [2, 3],
    [3, 0],
  ])("I/O priority %i:%i, also of what the program starts", (level, priority) => {
    const io = `io=${level}:${priority}`;
    const lines = output([init("process.ioPriority", { class: level, priority })], "scheduling 0; exec scheduling 0").split("\n");
    expect(lines.map((line) => line.split(" ").at(-1))).toEqual([io, io]);
  });

  test("a real-time I/O priority without the right for it, and a class that is none", () => {
    const user = init("process.user", { uid: 1000, gid: 1000 });
    expect(run([user, init("process.ioPriority", { class: 1 })], ":").error).toMatchObject({ errno: EPERM, text: "ioprio_set" });
    expect(run([init("process.ioPriority", { class: 4 })], ":").error).toMatchObject({ errno: EINVAL, text: "ioprio_set" });
  });

  test.skipIf(!hasNuma)("memory policy", () => {
    const policyOf = (args: Partial<OpArgs<"process.memoryPolicy">>) =>
      output([init("process.memoryPolicy", args)], "head -1 /proc/self/numa_maps").split(" ")[1];
    expect(policyOf({ mode: 2, nodes: [0] })).toBe("bind:0");
    expect(policyOf({ mode: 2, flags: 0x8000, nodes: [0] })).toBe("bind=static:0");
    expect(policyOf({ mode: 3, nodes: [0] })).toBe("interleave:0");
    expect(policyOf({ mode: 1, nodes: [0] })).toBe("prefer:0");
    expect(policyOf({ mode: 1 })).toBe("local");
    expect(policyOf({ mode: 0 })).toBe("default");
  });

  test.skipIf(!hasNuma)("memory policy: nodes that are not there, and more than there can be", () => {
    const failure = (nodes: number[]) => run([init("process.memoryPolicy", { mode: 2, nodes })], ":").error;
    expect(failure([1023])).toMatchObject({ errno: EINVAL, text: "set_mempolicy" });
    expect(failure([1024])).toMatchObject({ errno: EINVAL, text: "set_mempolicy" });
    expect(failure([0xffff_ffff])).toMatchObject({ errno: EINVAL, text: "set_mempolicy" });
  });

  test.skipIf(process.arch !== "x64")("personality", () => {
    const machine = (domain: number) => output([init("process.personality", { domain })], "busybox uname -m; cat /proc/self/personality");
    expect(machine(0)).toBe("x86_64\n00000000");
    expect(machine(8)).toBe("i686\n00000008");
  });

  test("CPUs, of init and of intermediate", () => {
    const allowed = /^Cpus_allowed_list:\s*(.*)$/m;
    const last = allowed.exec(readFileSync("/proc/self/status", "utf8"))?.[1]?.split(/[-,]/).at(-1) ?? "";
    const affinity = { cpus: [Number(last)] };
    const script = "cat /proc/self/status";
    expect(allowed.exec(output([init("process.affinity", affinity)], script))?.[1]).toBe(last);
    expect(allowed.exec(output([], script, { intermediate: [intermediate("process.affinity", affinity)] }))?.[1]).toBe(last);
    for (const cpu of [8191, 8192]) {
      expect(run([init("process.affinity", { cpus: [cpu] })], ":").error).toMatchObject({ errno: EINVAL, text: "sched_setaffinity" });
    }
  });

  test("in a user namespace root has no more rights than before", () => {
    const namespaces = NAMESPACES | CLONE_NEW.user;
    const failure = (op: TestOp) => run([], ":", { namespaces, first: [op] }).error;
    expect(failure(scheduler({ policy: FIFO, priority: 1 }))).toMatchObject({ errno: EPERM });
    expect(failure(scheduler({ nice: -1n }))).toMatchObject({ errno: EPERM });
    expect(failure(init("process.ioPriority", { class: 1 }))).toMatchObject({ errno: EPERM });
  });
});
