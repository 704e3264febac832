/** Rows X12 to X21: looking at it, waiting, ending, changing, signals, exec. */
import { execFile } from "node:child_process";
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { Executor, LIBRARY_VERSION, signalName } from "../../src/executor/index.ts";
import { isAlive } from "../../src/executor/process/procfs.ts";
import { statsV1 } from "../../src/executor/stats/v1.ts";
import { statsV2 } from "../../src/executor/stats/v2.ts";
import { cgroupFile, cgroupOf, isUnified } from "../support/cgroups.ts";
import { isGone, isRoot, REPOSITORY, RUNT, row, sleep, textOf, until, useExecutors, wrapper } from "./support.ts";

const MEMORY_LIMIT = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const MIB = 1 << 20;

/** So long nobody else on this host sleeps: a process of this file is known by it. */
const OWN_SECONDS = 10_000_000 + process.pid;

function sleepers(seconds: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && commandLine(name) === `sleep ${seconds}`)
    .map(Number);
}

/** CPU time of its cgroup, by the kernel's own count. */
function usageUs(pid: number): number {
  if (!isUnified) return Number(readFileSync(join(cgroupOf(pid, "cpuacct"), "cpuacct.usage"), "utf8")) / 1000;
  return Number(/^usage_usec (\d+)$/m.exec(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.stat"), "utf8"))?.[1]);
}

describe.skipIf(!isRoot)("executor: life (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

  row("X12", "every process of the container is listed, daemons and nested cgroups too", async () => {
    const one = executor();
    const { pid } = await one.launch(script("for i in $(seq 20); do (setsid sleep 1000 &) ; done; exec sleep 1000"));
    const inside = () =>
      readFileSync(join(cgroupOf(pid, "pids"), "cgroup.procs"), "utf8")
        .trim()
        .split("\n");
    // The shells between have gone, too.
    await until(() => inside().length === 21 && inside().every((each) => commandLine(each) === "sleep 1000"));
    const expected = inside().map(Number);
    const listed = (await one.stats()).processes;
    expect(listed.map(({ pid: found }) => found)).toEqual(expected.sort((a, b) => a - b));
    const daemons = listed.filter(({ command }) => command === "sleep");
    expect(daemons).toHaveLength(21);
    // One in a cgroup below.
    const running = one.exec({ cmd: "sleep", args: [String(OWN_SECONDS)] });
    await until(() => sleepers(OWN_SECONDS).length === 1);
    expect((await one.stats()).processes).toHaveLength(22);
    for (const each of sleepers(OWN_SECONDS)) process.kill(each, "SIGKILL");
    await running;
  });

  row(
    "X13",
    "a busy process appears with its CPU time and memory, and is gone when it has ended; a pid of another time is another process",
    async () => {
      const one = executor();
      const command = "(while :; do :; done) & busy=$!; trap 'kill $busy; exec sleep 1000' TERM; sleep 1000 & while :; do wait; done";
      const { pid: init } = await one.launch(script(command));
      await one.stats();
      const ticks = (pid: number) => {
        const fields = readFileSync(`/proc/${pid}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return Number(fields[11]) + Number(fields[12]);
      };
      const all = (await one.stats()).processes;
      const before = new Map(all.map(({ pid }) => [pid, [ticks(pid), performance.now()] as const]));
      const burnt = (pid: number) => ticks(pid) - (before.get(pid)?.[0] ?? Number.NaN);
      // Others may have the processors.
      const isBusy = ({ pid }: { pid: number }) => burnt(pid) >= 50;
      await until(() => all.some(isBusy));
      const { processes } = await one.stats();
      const busy = processes.find(isBusy)!;
      const percent = burnt(busy.pid) / ((performance.now() - before.get(busy.pid)![1]) / 1000);
      expect(busy.cpu!.totalPercent).toBeGreaterThan(percent * 0.7 - 5);
      expect(busy.cpu!.totalPercent).toBeLessThan(percent * 1.3 + 5);
      for (const { pid, cpu } of processes) if (pid !== busy.pid) expect(cpu?.totalPercent ?? 0).toBeLessThan(busy.cpu!.totalPercent);
      expect(busy.rssBytes).toBeGreaterThan(4096);
      process.kill(init, "SIGTERM");
      await until(() => isGone(busy.pid));
      expect((await one.stats()).processes.map(({ pid }) => pid)).not.toContain(busy.pid);
      expect(isAlive({ pid: process.pid, startTicks: "1" })).toBe(false);
    },
  );

  row("X14", "50 waiters and one in another process get the same final state", async () => {
    const one = executor();
    await one.launch(script("sleep 1.5; exit 42"));
    const other = promisify(execFile)(
      process.execPath,
      ["--import", "tsx", join(REPOSITORY, "test/library/programs/wait.ts"), stateDir, one.id],
      {
        cwd: REPOSITORY,
      },
    );
    const states = await Promise.all(Array.from({ length: 50 }, () => one.wait()));
    expect(states[0]).toMatchObject({ exitCode: 42, signal: null, unknown: false });
    for (const state of states) expect(state).toEqual(states[0]);
    expect(JSON.parse((await other).stdout)).toEqual(states[0]);
    expect(await (await Executor.adopt({ stateDir, id: one.id })).wait()).toEqual(states[0]);
  });

  row("X15", "a death by signal is 128 + signal with the signal", async () => {
    const one = executor();
    // The first process of a pid namespace of its own would not take it from outside (pid_namespaces(7)).
    const { pid } = await one.launch(script("sleep 1000 & wait", { namespaces: { pid: "host" } }));
    process.kill(pid, "SIGSEGV");
    expect(await one.wait()).toMatchObject({ exitCode: 139, signal: 11, unknown: false, oomKilled: false });
  });

  row("X15", "an outcome that nobody has seen is unknown and an error, never 0", async () => {
    const one = executor();
    const { pid } = await one.launch(script("exec sleep 1000"));
    process.kill(JSON.parse(readFileSync(join(stateDir, one.id, "record.json"), "utf8")).monitor.pid, "SIGKILL");
    await sleep(700);
    expect(one.state).toBe("running");
    process.kill(pid, "SIGTERM");
    process.kill(pid, "SIGKILL");
    const end = await one.wait();
    expect(end).toMatchObject({ exitCode: null, unknown: true, error: expect.stringContaining("monitor") });
    expect(isGone(pid)).toBe(true);
    expect(existsSync(join(stateDir, "@runtime", one.id))).toBe(false);
  });

  row("X16 a", "shutdown: a program that traps the signal ends within the grace, with its own status", async () => {
    const one = executor();
    await one.launch(script("trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done", { stdio: { stdout: "pipe" } }));
    await new Promise((resolve) => one.stdout?.once("data", resolve));
    expect(await one.shutdown({ graceMs: 10_000 })).toMatchObject({ endedBy: "signal", state: { exitCode: 0 } });
    expect(one.state).toBe("exited");
  });

  row("X16 b", "shutdown: one that ignores the signal is killed when the grace is over", async () => {
    const one = executor();
    const { pid } = await one.launch(script("trap '' INT; echo ready; while :; do sleep 0.05; done", { stdio: { stdout: "pipe" } }));
    await new Promise((resolve) => one.stdout?.once("data", resolve));
    const from = performance.now();
    const ending = one.shutdown({ graceMs: 500 });
    await sleep(200);
    expect(one.state).toBe("terminating");
    expect(isGone(pid)).toBe(false);
    expect(await ending).toMatchObject({ endedBy: "kill", state: { exitCode: 137, signal: 9 } });
    expect(performance.now() - from).toBeGreaterThan(490);
    expect(isGone(pid)).toBe(true);
  });

  row("X16 c", "shutdown with an unknown signal is an error, and nothing has happened", async () => {
    const one = executor();
    const { pid } = await one.launch(script("exec sleep 1000"));
    for (const signal of ["SIGNOPE", 0, 65, -1, 1.5])
      await expect(one.shutdown({ signal })).rejects.toMatchObject({ code: "invalid-argument" });
    expect(one.state).toBe("running");
    expect(isGone(pid)).toBe(false);
  });

  row(
    "X16 d",
    "shutdown without a pid namespace: a daemon that has left its parent is gone too, before it is said to have exited",
    async () => {
      for (const graceMs of [0, 10_000]) {
        const one = executor();
        const { pid } = await one.launch(
          script(
            "trap 'exit 0' INT; (setsid sh -c 'trap : INT TERM HUP; while :; do sleep 0.1; done' &); echo ready; while :; do sleep 0.05; done",
            {
              namespaces: { pid: "host" },
              stdio: { stdout: "pipe" },
            },
          ),
        );
        await new Promise((resolve) => one.stdout?.once("data", resolve));
        one.stdout?.destroy();
        const directory = cgroupOf(pid, "pids");
        const pids = readFileSync(join(directory, "cgroup.procs"), "utf8").trim().split("\n").map(Number);
        expect(pids.length).toBeGreaterThan(1);
        expect(await one.shutdown({ graceMs })).toMatchObject({ endedBy: graceMs === 0 ? "kill" : "signal" });
        for (const found of pids) expect(isGone(found)).toBe(true);
        expect(existsSync(directory)).toBe(false);
      }
    },
  );

  row("X16 e", "shutdown may be called before the launch, twice, at once and after the end", async () => {
    const one = executor();
    expect(await one.shutdown()).toEqual({ endedBy: "not-launched", state: null });
    await one.launch(script("exec sleep 1000"));
    const [first, second] = await Promise.all([one.shutdown({ graceMs: 0 }), one.shutdown({ graceMs: 0 })]);
    expect(first.state).toEqual(second.state);
    expect(await one.shutdown()).toEqual({ endedBy: "already", state: first.state });
  });

  row("X16 f", "what cannot be removed is stuck, is tried again, and has not exited before", async () => {
    const flag = join(directory, "refuse-delete");
    const binary = wrapper(directory, "stubborn", `case "$*" in *" delete "*) [ -e ${flag} ] && exit 1;; esac; exec ${RUNT} "$@"`);
    const one = executor({ binary });
    const { pid } = await one.launch(script("exec sleep 1000"));
    writeFileSync(flag, "");
    process.kill(JSON.parse(readFileSync(join(stateDir, one.id, "record.json"), "utf8")).monitor.pid, "SIGKILL");
    process.kill(pid, "SIGKILL");
    await expect.poll(() => one.state).toBe("stuck");
    let hasEnded = false;
    void one.wait().then(() => {
      hasEnded = true;
    });
    await sleep(700);
    expect([one.state, hasEnded]).toEqual(["stuck", false]);
    unlinkSync(flag);
    expect(await one.wait()).toMatchObject({ unknown: true, exitCode: null });
    expect(one.state).toBe("exited");
  });

  row("X17", "update changes limits of the running program; lowering below what is used and unknown limits are errors", async () => {
    const one = executor();
    const { pid } = await one.launch(
      script("dd if=/dev/zero bs=20M count=1 | sleep 1000", { resources: { memoryBytes: 32 * MIB, cpuShares: 512, pids: 50 } }),
    );
    const limit = () => readFileSync(cgroupFile(pid, MEMORY_LIMIT), "utf8").trim();
    expect(limit()).toBe(String(32 * MIB));
    await one.update({ memoryBytes: 64 * MIB, pids: 20 });
    expect(limit()).toBe(String(64 * MIB));
    expect(readFileSync(join(cgroupOf(pid, "pids"), "pids.max"), "utf8").trim()).toBe("20");
    if (!isUnified) expect(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.shares"), "utf8").trim()).toBe("512");
    await until(() => Number(readFileSync(cgroupFile(pid, { v1: "memory.usage_in_bytes", v2: "memory.current" }), "utf8")) > 20 * MIB);
    // v2 kills instead of refusing.
    if (!isUnified) {
      await expect(one.update({ memoryBytes: 4 * MIB })).rejects.toThrow(/memory/);
      expect(limit()).toBe(String(64 * MIB));
    }
    await expect(one.update({ shoeSize: 42 } as never)).rejects.toMatchObject({
      code: "invalid-argument",
      message: expect.stringContaining("shoeSize"),
    });
    await expect(one.update({ pids: -1 })).rejects.toMatchObject({ code: "invalid-argument" });
    expect(isGone(pid)).toBe(false);
  });

  row("X18", "version has a protocol number; an executor of a newer major one is refused", async () => {
    const one = executor();
    expect(LIBRARY_VERSION).toBe(JSON.parse(readFileSync(join(REPOSITORY, "package.json"), "utf8")).version);
    expect(one.version()).toEqual({ library: LIBRARY_VERSION, runtime: LIBRARY_VERSION, protocol: { major: 1, minor: 1 } });
    await one.launch(script("exec sleep 1000"));
    const path = join(stateDir, one.id, "executor.json");
    const description = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...description, protocol: { major: 2, minor: 0 } }));
    await expect(Executor.adopt({ stateDir, id: one.id })).rejects.toMatchObject({ code: "protocol" });
    writeFileSync(path, JSON.stringify({ ...description, protocol: { major: 1, minor: 7 }, later: true }));
    expect((await Executor.adopt({ stateDir, id: one.id })).state).toBe("running");
  });

  row("X19", "stats: memory, CPU, pids and what is measured are what the kernel's files and the program say", async () => {
    const one = executor();
    const { pid } = await one.launch(
      script("(while :; do :; done) & dd if=/dev/zero bs=20M count=1 | sleep 1000", {
        resources: { memoryBytes: 64 * MIB, cpus: 0.2, pids: 30 },
      }),
    );
    await until(() => Number(readFileSync(cgroupFile(pid, { v1: "memory.usage_in_bytes", v2: "memory.current" }), "utf8")) > 20 * MIB);
    // Others may have the processors: what counts is what the kernel has counted.
    await one.stats();
    const [from, used] = [performance.now(), usageUs(pid)];
    await until(() => usageUs(pid) - used > 100_000);
    const stats = await one.stats();
    const percent = (usageUs(pid) - used) / (performance.now() - from) / 10;
    expect(stats.memory.rssBytes).toBeGreaterThan(20 * MIB * 0.9);
    expect(stats.memory.rssBytes).toBeLessThan(20 * MIB * 1.1);
    expect(stats.memory.limitBytes).toBe(64 * MIB);
    expect(stats.memory.oomKills).toBe(0);
    expect(stats.pids).toEqual({ current: Number(readFileSync(join(cgroupOf(pid, "pids"), "pids.current"), "utf8")), limit: 30 });
    expect(Math.abs(stats.cpu.percent!.total - percent)).toBeLessThan(6);
    expect(stats.cpu.percent!.total).toBeGreaterThan(0);
    expect(percent).toBeLessThan(30);
    const throttled = Number(/^nr_throttled (\d+)$/m.exec(readFileSync(join(cgroupOf(pid, "cpu"), "cpu.stat"), "utf8"))?.[1]);
    expect(stats.cpu.throttledPeriods).toBeLessThanOrEqual(throttled);
    expect(stats.cpu.throttledPeriods).toBeGreaterThan(throttled - 5);
    expect(stats.measured).toEqual(expect.arrayContaining(["cpu.usageUs", "memory.rssBytes", "memory.oomKills", "pids.current"]));
    // What v1 does not have is absent and not named.
    if (!isUnified) {
      expect(stats.pressure).toEqual({});
      expect(stats.measured.filter((name) => name.startsWith("pressure"))).toEqual([]);
    }
    expect(Math.abs(stats.atMs - Date.now())).toBeLessThan(5_000);
  });

  row("X19", "stats: v1 and v2 files with the same content give the same numbers (golden)", () => {
    const v1: Record<string, string> = {
      "cpuacct.usage": "1500000000\n",
      "cpuacct.stat": "user 100\nsystem 50\n",
      "cpu.stat": "nr_periods 10\nnr_throttled 4\nthrottled_time 2000000\n",
      "memory.stat": "cache 1\nrss 2\nswap 3\ntotal_cache 4096\ntotal_rss 8192\ntotal_swap 12288\n",
      "memory.usage_in_bytes": "20480\n",
      "memory.max_usage_in_bytes": "40960\n",
      "memory.limit_in_bytes": "65536\n",
      "memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n",
      "pids.current": "3\n",
      "pids.max": "max\n",
      "blkio.throttle.io_service_bytes_recursive": "8:0 Read 100\n8:0 Write 200\n8:16 Read 1\n8:16 Write 2\nTotal 303\n",
      "blkio.throttle.io_serviced_recursive": "8:0 Read 5\n8:0 Write 6\nTotal 11\n",
    };
    const v2: Record<string, string> = {
      "cpu.stat": "usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 4\nthrottled_usec 2000\n",
      "memory.stat": "anon 8192\nfile 4096\n",
      "memory.swap.current": "12288\n",
      "memory.current": "20480\n",
      "memory.peak": "40960\n",
      "memory.max": "65536\n",
      "memory.events": "low 0\nhigh 0\nmax 9\noom 2\noom_kill 2\n",
      "pids.current": "3\n",
      "pids.max": "max\n",
      "io.stat": "8:0 rbytes=100 wbytes=200 rios=5 wios=6 dbytes=0 dios=0\n8:16 rbytes=1 wbytes=2 rios=0 wios=0\n",
      "memory.pressure": "some avg10=1.50 avg60=0.25 avg300=0.00 total=123\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=45\n",
    };
    const one = statsV1((_, file) => v1[file]);
    const two = statsV2((_, file) => v2[file]);
    expect(two.pressure.memory).toEqual({
      some: { avg10: 1.5, avg60: 0.25, avg300: 0, totalUs: 123 },
      full: { avg10: 0, avg60: 0, avg300: 0, totalUs: 45 },
    });
    expect({ ...two, pressure: {} }).toEqual(one);
    expect(one.cpu).toEqual({
      usageUs: 1_500_000,
      userUs: 1_000_000,
      systemUs: 500_000,
      periods: 10,
      throttledPeriods: 4,
      throttledUs: 2000,
    });
    expect(one.pids).toEqual({ current: 3 });
    expect(statsV1(() => undefined)).toEqual({ cpu: {}, memory: {}, pids: {}, io: {}, pressure: {} });
  });

  row("X20", "each of the 31 signals arrives, by name and by number; none is sent to what has ended", async () => {
    const one = executor();
    await one.launch(
      script(
        "for s in $(seq 1 31); do case $s in 9|17|19) ;; *) trap \"echo got $s\" $s ;; esac; done; trap 'echo got 17' CHLD; echo ready; while :; do read x; done",
        {
          stdio: { stdin: "pipe", stdout: "pipe" },
        },
      ),
    );
    let text = "";
    one.stdout?.on("data", (chunk) => {
      text += chunk;
    });
    await until(() => text.includes("ready"));
    const count = (number: number) => text.split("\n").filter((line) => line === `got ${number}`).length;
    for (let number = 1; number <= 31; number++) {
      if (number === constants.signals.SIGKILL || number === constants.signals.SIGSTOP) continue;
      await one.signal(number);
      await until(() => count(number) >= 1);
      await one.signal(
        signalName(number)
          .slice(number % 2 ? 3 : 0)
          .toLowerCase(),
      );
      await until(() => count(number) >= 2);
    }
    await expect(one.signal("SIGNOPE")).rejects.toMatchObject({ code: "invalid-argument" });
    await one.signal(9);
    expect(await one.wait()).toMatchObject({ exitCode: 137, signal: 9 });
    await expect(one.signal(15)).rejects.toMatchObject({ code: "wrong-state" });
  });

  row("X21", "exec: the last bytes of its output, joined or separate, and the size of the ring", async () => {
    const one = executor();
    await one.launch(script("exec sleep 1000", { env: { MINE: "a=b" } }));
    const digits = "seq 1 3000 | head -c 10000";
    const whole = (await one.exec({ cmd: "sh", args: ["-c", digits], ringBytes: 20_000 })).output.toString();
    expect(whole).toHaveLength(10_000);
    const last = await one.exec({ cmd: "sh", args: ["-c", digits] });
    expect(last).toMatchObject({ exitCode: 0, timedOut: false, outputBytes: 10_000 });
    expect(last.output.toString()).toBe(whole.slice(-4096));
    const apart = await one.exec({
      cmd: "sh",
      args: ["-c", "echo out $MINE $X; cat; echo err >&2; exit 5"],
      separate: true,
      env: { X: "x=y" },
      input: "in\n",
    });
    expect([apart.output.toString(), apart.stderr?.toString(), apart.exitCode]).toEqual(["out a=b x=y\nin\n", "err\n", 5]);
    expect((await one.exec({ cmd: "id", args: ["-u"], user: "user" })).output.toString()).toBe("1000\n");
    expect((await one.exec({ cmd: "sh", args: ["-c", "kill -SEGV $$"] })).exitCode).toBe(139);
    await expect(one.exec({ cmd: "nowhere" })).rejects.toMatchObject({ name: "ProgramError", verb: "exec", reason: "not-found" });
  });

  row("X21", "exec: the deadline ends all that it has started, a daemon too, and what was printed is there", async () => {
    for (const namespaces of [{}, { pid: "host" }] as const) {
      const one = executor();
      const { pid } = await one.launch(script("exec sleep 1000", { namespaces }));
      const from = performance.now();
      const result = await one.exec({
        cmd: "sh",
        args: ["-c", "echo partial; setsid sleep $0 & (setsid sleep $0 &); sleep $0", String(OWN_SECONDS)],
        // The program has to come to its output before.
        deadlineMs: 5_000,
      });
      expect(result).toMatchObject({ exitCode: null, timedOut: true });
      expect(result.output.toString()).toBe("partial\n");
      expect(performance.now() - from).toBeLessThan(60_000);
      expect(sleepers(OWN_SECONDS)).toEqual([]);
      expect(isGone(pid)).toBe(false);
      expect(one.state).toBe("running");
    }
  });

  row("X21", "exec: 100 at once, each with its own output and status", async () => {
    const one = executor();
    const { pid } = await one.launch(script("exec sleep 1000"));
    const results = await Promise.all(
      Array.from({ length: 100 }, (_, index) => one.exec({ cmd: "sh", args: ["-c", `echo number ${index}; exit ${index}`] })),
    );
    expect(results.map(({ output }) => output.toString())).toEqual(results.map((_, index) => `number ${index}\n`));
    expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map((_, index) => index));
    // No cgroup of an exec is left.
    const directory = cgroupOf(pid, "freezer");
    expect(readdirSync(directory, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
    await one.shutdown({ graceMs: 0 });
  });

  row("X14, X15", "a supervisor that comes later reads what was printed when nobody was there, and the true end", async () => {
    const one = executor();
    await one.launch(script("sleep 0.2; echo late; exit 9", { stdio: { stdout: "pipe" } }));
    await one.wait();
    const adopted = await Executor.adopt({ stateDir, id: one.id });
    expect(await adopted.wait()).toMatchObject({ exitCode: 9 });
    expect(await textOf(adopted.stdout)).toBe("late\n");
  });
});

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
  } catch {
    return "";
  }
}
