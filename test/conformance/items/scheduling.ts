import { readFileSync } from "node:fs";
import { getPriority } from "node:os";
import type { Config } from "../../support/config.ts";
import * as assert from "../assert.ts";
import { waitFor } from "../container.ts";
import type { Context } from "../context.ts";
import { group } from "../group.ts";
import { childrenOf, parseStatus } from "../observe.ts";
import { roomForRealTime, type Scheduling, schedulingOf } from "../scheduling.ts";

/** Numbers of sched(7). */
const POLICY = { OTHER: 0, FIFO: 1, RR: 2, BATCH: 3, IDLE: 5, DEADLINE: 6 } as const;
const FLAG = { RESET_ON_FORK: 1, RECLAIM: 2, DL_OVERRUN: 4 } as const;
/** Numbers of ioprio_set(2). */
const IO_CLASS = { RT: 1, BE: 2, IDLE: 3 } as const;

/** What a program has whose configuration says nothing: that of the tests. */
const NICE = getPriority();

const REAL_TIME = ["FIFO", "RR"];
const MILLISECOND = 1_000_000;
const TIMES = { runtime: 10 * MILLISECOND, deadline: 50 * MILLISECOND, period: 100 * MILLISECOND };

const process = (fields: object) => (config: Config) => void Object.assign(config.process, { args: ["/bin/sleep", "60"], ...fields });
const scheduler = (policy: string, fields: object = {}) => process({ scheduler: { policy: `SCHED_${policy}`, ...fields } });

/** The program of a container whose runtime was called with this before it ("nice -n 5"). */
async function seenFrom(c: Context, before: string, change: (config: Config) => void): Promise<Scheduling> {
  const container = c.container(c.bundle(change));
  const { status, stderr } = await c.shell(`exec ${before} "$@"`, ["create", "--bundle", container.bundle, container.id]);
  assert.equal(status, 0, stderr);
  await container.start();
  const pid = await container.pid();
  await waitFor(() => readFileSync(`/proc/${pid}/comm`, "utf8") === "sleep\n", "the program");
  return schedulingOf(pid);
}

const seen = (c: Context, change: (config: Config) => void) => seenFrom(c, "", change);

const seenRealTime = (c: Context, change: (config: Config) => void) =>
  seen(c, (config) => {
    change(config);
    roomForRealTime(c, config);
  });

const cpusOf = (status: string) => parseStatus(status).get("Cpus_allowed_list") ?? "";

/** Two CPUs that this process may run on. */
function twoCpus(c: Context): [string, string] {
  const cpus = cpusOf(readFileSync("/proc/self/status", "utf8"))
    .split(",")
    .flatMap((range) => {
      const [first = 0, last = first] = range.split("-").map(Number);
      return Array.from({ length: last - first + 1 }, (_, index) => String(first + index));
    });
  const [first, second] = cpus;
  return first === undefined || second === undefined ? c.skip("needs two CPUs") : [first, second];
}

/** The CPUs of a process of `exec`, in a container with this execCPUAffinity. */
async function execCpus(c: Context, execCPUAffinity: object | undefined): Promise<string> {
  const container = await c.start(process({ execCPUAffinity }));
  return cpusOf(await container.exec("cat /proc/self/status"));
}

export const scheduling = group("SCH", "scheduler, ioPriority, execCPUAffinity", ({ must, should }) => {
  must(
    1,
    "the scheduler's policy is required, and must be a named policy of Linux",
    async (c) => {
      await c.refused(process({ scheduler: { nice: 5 } }), "/process/scheduler/policy");
      for (const policy of ["SCHED_NORMAL", "OTHER", "sched_other", ""])
        await c.refused(process({ scheduler: { policy } }), "/process/scheduler/policy");
      // The kernel has this one's number, but not the policy.
      await c.refused(scheduler("ISO"), "/process/scheduler");
      for (const policy of ["BATCH", "IDLE"] as const) assert.equal((await seen(c, scheduler(policy))).policy, POLICY[policy]);
      assert.equal((await seenFrom(c, "chrt --batch 0", scheduler("OTHER"))).policy, POLICY.OTHER);
      for (const policy of ["FIFO", "RR"] as const)
        assert.equal((await seenRealTime(c, scheduler(policy, { priority: 1 }))).policy, POLICY[policy]);
      assert.equal((await seen(c, scheduler("DEADLINE", TIMES))).policy, POLICY.DEADLINE);
    },
    { alone: true },
  );
  must(2, "nice is 0 unless given, and from -20 to 19 with the policies that have it", async (c) => {
    for (const [policy, limit] of [
      ["OTHER", -20],
      ["BATCH", 19],
    ] as const) {
      assert.equal((await seenFrom(c, "nice -n 7", scheduler(policy))).nice, 0);
      assert.equal((await seen(c, scheduler(policy, { nice: limit }))).nice, limit);
      for (const nice of [-21, 20]) await c.refused(scheduler(policy, { nice }), "/process/scheduler/nice");
    }
  });
  must(
    3,
    "priority is 0 unless given, and only SCHED_FIFO and SCHED_RR have one",
    async (c) => {
      for (const policy of REAL_TIME) {
        for (const priority of [1, 99]) assert.equal((await seenRealTime(c, scheduler(policy, { priority }))).priority, priority);
      }
      assert.equal((await seen(c, scheduler("BATCH"))).priority, 0);
      for (const policy of ["OTHER", "BATCH", "IDLE"]) await c.refused(scheduler(policy, { priority: 5 }), "/process/scheduler/priority");
      await c.refused(scheduler("DEADLINE", { ...TIMES, priority: 5 }), "/process/scheduler/priority");
    },
    { alone: true },
  );
  must(
    4,
    "runtime, deadline and period are 0 unless given, and only SCHED_DEADLINE has them",
    async (c) => {
      const { runtime, deadline, period } = await seen(c, scheduler("DEADLINE", TIMES));
      assert.deepEqual({ runtime, deadline, period }, TIMES);
      // Without a period the kernel takes the deadline's.
      const { runtime: _, ...rest } = TIMES;
      await c.refused(scheduler("DEADLINE", rest), /^\/process\/scheduler/);
      for (const policy of ["OTHER", "FIFO", "RR", "BATCH", "IDLE"]) {
        const priority = REAL_TIME.includes(policy) ? 1 : 0;
        for (const [field, value] of Object.entries(TIMES))
          await c.refused(scheduler(policy, { priority, [field]: value }), `/process/scheduler/${field}`);
      }
    },
    { alone: true },
  );
  must(
    5,
    "flags are those of Linux, and have their effect",
    async (c) => {
      for (const flag of ["SCHED_FLAG_TEST", "RESET_ON_FORK", ""])
        await c.refused(scheduler("OTHER", { flags: [flag] }), "/process/scheduler/flags/0");
      const flags = (...names: readonly string[]) => ({ flags: names.map((name) => `SCHED_FLAG_${name}`) });
      assert.equal((await seen(c, scheduler("BATCH", flags("RESET_ON_FORK")))).flags, FLAG.RESET_ON_FORK);
      assert.equal((await seen(c, scheduler("BATCH"))).flags, 0);
      for (const name of ["RECLAIM", "DL_OVERRUN"] as const)
        assert.equal((await seen(c, scheduler("DEADLINE", { ...TIMES, ...flags(name) }))).flags, FLAG[name]);
      const policyKept = await seenFrom(c, "chrt --batch 0", scheduler("OTHER", { nice: 3, ...flags("KEEP_POLICY") }));
      assert.deepEqual([policyKept.policy, policyKept.nice], [POLICY.BATCH, 3]);
      // The policy is one of the parameters.
      const allKept = await seenFrom(c, "nice -n 6", scheduler("BATCH", { nice: 3, ...flags("KEEP_PARAMS") }));
      assert.deepEqual([allKept.policy, allKept.nice], [POLICY.OTHER, Math.min(NICE + 6, 19)]);
      for (const name of ["UTIL_CLAMP_MIN", "UTIL_CLAMP_MAX"]) await clamped(c, name);
    },
    { alone: true },
  );
  must(
    6,
    "the program and its children are scheduled as configured",
    async (c) => {
      const batch = await c.start(scheduler("BATCH", { nice: 4, args: undefined }));
      const { policy, nice } = schedulingOf(await batch.pid());
      assert.deepEqual([policy, nice], [POLICY.BATCH, 4]);
      assert.equal((await batch.status()).get("Name"), "sleep");
      const real = await seenRealTime(c, scheduler("RR", { priority: 7, flags: ["SCHED_FLAG_RESET_ON_FORK"] }));
      assert.deepEqual([real.policy, real.priority, real.flags], [POLICY.RR, 7, FLAG.RESET_ON_FORK]);
      const plain = await seen(c, process({}));
      assert.deepEqual([plain.policy, plain.nice, plain.priority], [POLICY.OTHER, NICE, 0]);
    },
    { alone: true },
  );
  must(7, "ioPriority needs a class, RT, BE or IDLE, and a priority from 0 to 7", async (c) => {
    const io = (fields: object) => process({ ioPriority: fields });
    for (const [name, priority] of [
      ["RT", 0],
      ["BE", 7],
      ["IDLE", 5],
    ] as const)
      assert.equal((await seen(c, io({ class: `IOPRIO_CLASS_${name}`, priority }))).io, `${IO_CLASS[name]}:${priority}`);
    for (const priority of [-1, 8]) await c.refused(io({ class: "IOPRIO_CLASS_BE", priority }), "/process/ioPriority/priority");
    for (const text of ["IOPRIO_CLASS_NONE", "BE", ""]) await c.refused(io({ class: text, priority: 4 }), "/process/ioPriority/class");
    await c.refused(io({ priority: 4 }), "/process/ioPriority/class");
  });
  must(8, "ioPriority holds for all processes of the container", async (c) => {
    const container = await c.start((config) =>
      Object.assign(config.process, {
        args: ["/bin/sh", "-c", "sleep 60 & sleep 60 & wait"],
        ioPriority: { class: "IOPRIO_CLASS_BE", priority: 1 },
      }),
    );
    const pid = await container.pid();
    await waitFor(() => childrenOf(pid).length === 2, "two children");
    for (const process of [pid, ...childrenOf(pid)]) assert.equal(schedulingOf(process).io, `${IO_CLASS.BE}:1`);
  });
  must(9, "execCPUAffinity has no effect on the program", async (c) => {
    const [first, second] = twoCpus(c);
    const container = await c.start(process({ execCPUAffinity: { initial: first, final: second } }));
    assert.equal(cpusOf(await container.proc("status")), cpusOf(readFileSync("/proc/self/status", "utf8")));
  });
  must(10, "the initial affinity is given to a process of exec before it moves into the cgroup", async (c) => {
    const [first, second] = twoCpus(c);
    assert.equal(await execCpus(c, { initial: first }), first);
    assert.equal(await execCpus(c, { initial: second }), second);
    // The kernel widens it where the cgroup has none of these CPUs.
    const container = await c.start((config) => {
      process({ execCPUAffinity: { initial: first } })(config);
      config.linux.resources["cpu"] = { cpus: second };
    });
    assert.equal(cpusOf(await container.exec("cat /proc/self/status")), second);
  });
  should(11, "the process gets the final affinity in the cgroup; without one it keeps that of the kernel", async (c) => {
    const [first, second] = twoCpus(c);
    assert.equal(await execCpus(c, { final: first }), first);
    assert.equal(await execCpus(c, { initial: first, final: second }), second);
    assert.equal(await execCpus(c, { initial: first, final: `${first},${second}` }), listOf(first, second));
    const whole = cpusOf(readFileSync("/proc/self/status", "utf8"));
    assert.equal(await execCpus(c, { initial: "", final: "" }), whole);
    assert.equal(await execCpus(c, undefined), whole);
  });
  should(13, "the program may use every CPU of its cpuset, independent of the runtime's caller", async (c) => {
    const all = parseStatus(readFileSync("/proc/self/status", "utf8")).get("Cpus_allowed_list") ?? "";
    if (!/[,-]/.test(all)) c.skip("there is one CPU");
    const change = process({ args: ["/bin/sh", "-c", "grep Cpus_allowed_list /proc/self/status"] });
    const bound = async (words: readonly string[]) =>
      (await c.shell('exec taskset -c 0 "$@"', words)).stdout.replace("Cpus_allowed_list:", "").trim();
    const container = c.container(c.bundle(change));
    assert.equal(await bound(["run", "--bundle", container.bundle, container.id]), all);
    const running = await c.start();
    assert.equal(await bound(["exec", running.id, "grep", "Cpus_allowed_list", "/proc/self/status"]), all);
  });
  must(12, "an invalid list of CPUs is refused", async (c) => {
    const refused = (field: string, text: string) =>
      c.refused(process({ execCPUAffinity: { [field]: text } }), `/process/execCPUAffinity/${field}`);
    for (const text of ["3-1", "a", "0-", "-1", "0 1", "0-1-2"]) await refused("initial", text);
    for (const text of ["3-1", "a"]) await refused("final", text);
  });
});

/** As the kernel writes two CPUs. */
const listOf = (first: string, second: string) => (Number(second) === Number(first) + 1 ? `${first}-${second}` : `${first},${second}`);

/**
 * A clamp of 0 takes the boost from a real-time program, and the most from any. A kernel without clamps refuses the flag: in its own name,
 * not as one that is unknown.
 */
async function clamped(c: Context, name: string): Promise<void> {
  const change = (config: Config) => {
    scheduler("FIFO", { priority: 1, flags: [`SCHED_FLAG_${name}`] })(config);
    roomForRealTime(c, config);
  };
  const plain = await c.start((config) => {
    scheduler("FIFO", { priority: 1 })(config);
    roomForRealTime(c, config);
  });
  const row = name === "UTIL_CLAMP_MIN" ? /^uclamp\.min +: +(\d+)$/m : /^uclamp\.max +: +(\d+)$/m;
  const unclamped = row.exec(await plain.proc("sched"))?.[1];
  if (unclamped === undefined) {
    await c.refused(change, "/process/scheduler");
    return;
  }
  assert.notEqual(unclamped, "0");
  assert.equal(row.exec(await (await c.start(change)).proc("sched"))?.[1], "0");
}
