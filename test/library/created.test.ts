/** Created containers: create, start, and adopting them in either state. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Executor } from "../../src/executor/index.ts";
import { CGROUP_PARENT, isGone, isRoot, REPOSITORY, sleep, statusOf, textOf, until, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: create and start (needs root)", () => {
  const { executor, ownRootfs, rootfs, script, stateDir } = useExecutors();
  const status = (id: string) => statusOf(stateDir, id);
  const record = (id: string) => JSON.parse(readFileSync(join(stateDir, id, "record.json"), "utf8"));

  /** What a supervisor has done until it was killed: "created" or "running". */
  async function orphan(id: string, verbs: "create" | "start"): Promise<void> {
    const supervisor = spawn(
      process.execPath,
      ["--import", "tsx", join(REPOSITORY, "test/library/programs/creator.ts"), stateDir, id, rootfs(), CGROUP_PARENT, verbs],
      { stdio: ["ignore", "pipe", "inherit"], cwd: REPOSITORY },
    );
    await new Promise((resolve) => supervisor.stdout.once("data", resolve));
    supervisor.kill("SIGKILL");
    await new Promise((resolve) => supervisor.once("exit", resolve));
  }

  test("create: init waits, monitor and record are there, the program has not run; start runs it", async () => {
    const one = executor();
    const { pid } = await one.create(script("echo out; until [ -e /dev/go ]; do sleep 0.05; done; exit 3", { stdio: { stdout: "pipe" } }));
    expect(one.state).toBe("created");
    expect(status(one.id)).toMatchObject({ status: "created", pid });
    expect(record(one.id)).toMatchObject({ phase: "created", pid, bootId: bootId() });
    expect(readFileSync(`/proc/${pid}/cmdline`, "utf8")).not.toContain("exit 3");
    expect(isGone(record(one.id).monitor.pid)).toBe(false);
    await expect(one.exec({ cmd: "true" })).rejects.toMatchObject({ code: "wrong-state" });
    expect((await Executor.list(stateDir)).find(({ id }) => id === one.id)).toMatchObject({ state: "created", process: { pid } });
    const before = Date.now();
    expect(await one.start()).toMatchObject({ pid, exitCode: null });
    writeFileSync(`/proc/${pid}/root/dev/go`, "");
    expect(await textOf(one.stdout)).toBe("out\n");
    const end = await one.wait();
    expect(end).toMatchObject({ pid, exitCode: 3, unknown: false, bootId: bootId() });
    expect(end.startedMs).toBeGreaterThanOrEqual(before);
    expect(existsSync(join(stateDir, "@runtime", one.id))).toBe(false);
    await expect(one.start()).rejects.toMatchObject({ code: "wrong-state" });
  });

  test("adopt after SIGKILL of the creator: created, and then started by the next one", async () => {
    const id = `orphan-${process.pid}`;
    await orphan(id, "create");
    const one = await Executor.adopt({ stateDir, id });
    expect(one.state).toBe("created");
    expect(status(id)).toMatchObject({ status: "created", pid: one.process?.pid });
    await one.start();
    expect(status(id)).toMatchObject({ status: "running", pid: one.process?.pid });
    expect(await one.shutdown({ graceMs: 0 })).toMatchObject({ state: { exitCode: 137, signal: 9 } });
    one.remove();
  });

  test("adopt after SIGKILL of the starter: running, with its start time and its true end", async () => {
    const id = `orphan-running-${process.pid}`;
    const before = Date.now();
    await orphan(id, "start");
    const one = await Executor.adopt({ stateDir, id });
    expect(one.state).toBe("running");
    expect(status(id)).toMatchObject({ status: "running", pid: one.process?.pid });
    expect(one.process!.startedMs).toBeGreaterThan(before);
    expect(await one.exec({ cmd: "touch", args: ["/dev/go"] })).toMatchObject({ exitCode: 0 });
    expect(await one.wait()).toMatchObject({ exitCode: 7, unknown: false });
    one.remove();
  });

  test("started by somebody else: the creator sees it run", async () => {
    const one = executor();
    const { pid } = await one.create(script("exec sleep 1000"));
    const other = await Executor.adopt({ stateDir, id: one.id });
    await other.start();
    expect(one.state).toBe("running");
    await until(() => readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith("sleep"));
    expect((await one.exec({ cmd: "true" })).exitCode).toBe(0);
    await expect(one.start()).rejects.toMatchObject({ code: "wrong-state" });
  });

  test("of two that start it at once one has started it, and the program has run once", async () => {
    const one = executor();
    await one.create(script("echo once; exit 0", { stdio: { stdout: "pipe" } }));
    const other = await Executor.adopt({ stateDir, id: one.id });
    const results = await Promise.allSettled([one.start(), other.start()]);
    expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
    const lost = results.find((result) => result.status === "rejected");
    expect(lost?.reason).toMatchObject({ code: "wrong-state" });
    expect(await textOf(one.stdout)).toBe("once\n");
  });

  test("a created one is ended at once, whatever the grace; signals and limits reach it", async () => {
    const one = executor();
    const { pid } = await one.create(script("exit 0", { resources: { pids: 50 } }));
    await one.update({ pids: 60 });
    const from = performance.now();
    expect(await one.shutdown({ graceMs: 600_000 })).toMatchObject({ endedBy: "kill", state: { exitCode: 137, signal: 9 } });
    expect(performance.now() - from).toBeLessThan(60_000);
    expect(isGone(pid)).toBe(true);
    expect(existsSync(join(stateDir, "@runtime", one.id))).toBe(false);
    const two = executor();
    const { pid: second } = await two.create(script("exit 0"));
    await two.signal("SIGKILL");
    expect(await two.wait()).toMatchObject({ pid: second, signal: 9 });
  });

  test("a program that is not there fails create and leaves nothing; one that cannot be executed fails start and ends", async () => {
    const one = executor();
    await expect(one.create({ rootfs: rootfs(), cmd: "nowhere", cgroupParent: CGROUP_PARENT })).rejects.toMatchObject({
      reason: "not-found",
    });
    expect(one.state).toBe("failed");
    expect(existsSync(join(stateDir, one.id))).toBe(false);
    const two = executor();
    const root = ownRootfs();
    writeFileSync(join(root, "broken"), "neither script nor program", { mode: 0o755 });
    const { pid } = await two.create({ rootfs: root, cmd: "/broken", cgroupParent: CGROUP_PARENT });
    await expect(two.start()).rejects.toMatchObject({ name: "ProgramError", reason: "wrong-format" });
    expect((await two.wait()).exitCode).not.toBe(0);
    expect(isGone(pid)).toBe(true);
  });

  test("the monitor dies while it waits: it can be started, and its end is unknown", async () => {
    const one = executor();
    const { pid } = await one.create(script("exit 0"));
    process.kill(record(one.id).monitor.pid, "SIGKILL");
    await sleep(700);
    expect(one.state).toBe("created");
    await one.start();
    expect(await one.wait()).toMatchObject({ pid, exitCode: null, unknown: true, unknownCause: "monitor-killed" });
  });
});

function bootId(): string {
  return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
}
