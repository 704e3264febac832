/** Rows X14 to X18 and X20: waiting, ending, changing, versions, signals. */
import { execFile } from "node:child_process";
import { existsSync, readFileSync, unlinkSync, writeFileSync } from "node:fs";
import { constants } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { Executor, LIBRARY_VERSION, signalName } from "../../src/executor/index.ts";
import { cgroupFile, cgroupOf, isUnified } from "../support/cgroups.ts";
import { isGone, isRoot, REPOSITORY, RUNT, row, sleep, textOf, until, useExecutors, wrapper } from "./support.ts";

const MEMORY_LIMIT = { v1: "memory.limit_in_bytes", v2: "memory.max" };
const MIB = 1 << 20;

describe.skipIf(!isRoot)("executor: life (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

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

  row("X15", "death by a signal is 128 + signal, with the signal", async () => {
    const one = executor();
    // The first process of a pid namespace of its own would not take it from outside (pid_namespaces(7)).
    const { pid } = await one.launch(script("sleep 1000 & wait", { namespaces: { pid: "host" } }));
    process.kill(pid, "SIGSEGV");
    expect(await one.wait()).toMatchObject({ exitCode: 139, signal: 11, unknown: false, oomKilled: false });
  });

  row("X15", "an exit status that no process has seen is unknown and an error, never 0", async () => {
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

  row("X16 c", "shutdown with an unknown signal is an error and does nothing", async () => {
    const one = executor();
    const { pid } = await one.launch(script("exec sleep 1000"));
    for (const signal of ["SIGNOPE", 0, 65, -1, 1.5])
      await expect(one.shutdown({ signal })).rejects.toMatchObject({ code: "invalid-argument" });
    expect(one.state).toBe("running");
    expect(isGone(pid)).toBe(false);
  });

  row(
    "X16 d",
    "shutdown without a pid namespace: a daemon that has left its parent also ends before the container is reported as exited",
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

  row(
    "X16 f",
    "a container that cannot be removed is stuck; its removal is tried again, and it is not reported as exited before",
    async () => {
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
    },
  );

  row("X17", "update changes limits of the running program; a limit below the current use and an unknown limit are errors", async () => {
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
    expect(one.version()).toEqual({ library: LIBRARY_VERSION, runtime: LIBRARY_VERSION, protocol: { major: 1, minor: 2 } });
    await one.launch(script("exec sleep 1000"));
    const path = join(stateDir, one.id, "executor.json");
    const description = JSON.parse(readFileSync(path, "utf8"));
    writeFileSync(path, JSON.stringify({ ...description, protocol: { major: 2, minor: 0 } }));
    await expect(Executor.adopt({ stateDir, id: one.id })).rejects.toMatchObject({ code: "protocol" });
    writeFileSync(path, JSON.stringify({ ...description, protocol: { major: 1, minor: 7 }, later: true }));
    expect((await Executor.adopt({ stateDir, id: one.id })).state).toBe("running");
  });

  row("X20", "each of the 31 signals arrives, by name and by number; no signal is sent to a process that has ended", async () => {
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

  row("X14, X15", "a later supervisor reads the output that was printed without a reader, and the true exit status", async () => {
    const one = executor();
    await one.launch(script("sleep 0.2; echo late; exit 9", { stdio: { stdout: "pipe" } }));
    await one.wait();
    const adopted = await Executor.adopt({ stateDir, id: one.id });
    expect(await adopted.wait()).toMatchObject({ exitCode: 9 });
    expect(await textOf(adopted.stdout)).toBe("late\n");
  });
});
