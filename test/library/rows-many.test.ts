/** Rows X42 to X46: all executors of a directory, statistics as a stream, pauses, names of capabilities, and programs that cannot be executed. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import {
  CAPABILITIES,
  Executor,
  ExecutorError,
  hostCapabilities,
  ProgramError,
  Runtime,
  RuntimeError,
  toConfig,
} from "../../src/executor/index.ts";
import { sampleConfig } from "../support/config.ts";
import { CGROUP_PARENT, isRoot, row, until, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: many, stats, pause, names (needs root)", () => {
  const { directory, executor, ownRootfs, script, stateDir } = useExecutors();

  row("X42", "list shows every executor of a directory, including broken ones, and changes nothing", async () => {
    expect(await Executor.list(join(directory, "absent"))).toEqual([]);
    await expect(Executor.list("relative")).rejects.toMatchObject({ code: "invalid-argument" });
    const here = join(directory, "listed");
    const own = (id: string) => executor({ stateDir: here, id });
    const [runs, ended, paused] = [own("b-runs"), own("a-ended"), own("c-paused")];
    const { pid } = await runs.launch(script("exec sleep 1000"));
    await ended.launch(script("exit 7"));
    await ended.wait();
    await paused.launch(script("exec sleep 1000"));
    await paused.pause();
    for (const [id, text] of Object.entries({
      "d-cut": "{",
      "e-empty": "{}",
      "f-newer": '{"protocol":{"major":9,"minor":0},"supervisor":{},"pipes":[]}',
    })) {
      mkdirSync(join(here, id));
      writeFileSync(join(here, id, "executor.json"), text);
    }
    mkdirSync(join(here, "g-nothing"));
    writeFileSync(join(here, "a-file"), "");
    // Its supervisor died before it had begun, and another one while it had only begun.
    const dead = { pid: 4_194_304, startTicks: "1" };
    const description = { ...JSON.parse(readFileSync(join(here, "b-runs/executor.json"), "utf8")), supervisor: dead };
    for (const id of ["h-never", "i-begun", "j-damaged"]) {
      mkdirSync(join(here, id));
      writeFileSync(join(here, id, "executor.json"), JSON.stringify({ ...description, id }));
    }
    const begun = { schema: 1, id: "i-begun", root: "", monitor: dead, phase: "creating" };
    writeFileSync(join(here, "i-begun/record.json"), JSON.stringify(begun));
    writeFileSync(join(here, "j-damaged/record.json"), '{"schema":1,');
    const names = () => readdirSync(here, { recursive: true }).sort();
    const before = names();
    const entries = await Executor.list(here);
    expect(entries.map(({ id, state, process, error }) => [id, state, process?.exitCode ?? process?.pid ?? null, error?.code])).toEqual([
      ["a-ended", "exited", 7, undefined],
      ["b-runs", "running", pid, undefined],
      ["c-paused", "paused", paused.process!.pid, undefined],
      ["d-cut", "unknown", null, "state-unreadable"],
      ["e-empty", "unknown", null, "state-unreadable"],
      ["f-newer", "unknown", null, "protocol"],
      ["g-nothing", "unknown", null, "state-unreadable"],
      ["h-never", "failed", null, undefined],
      ["i-begun", "failed", null, undefined],
      ["j-damaged", "unknown", null, "state-unreadable"],
    ]);
    expect(entries[3]!.error!.message).toContain(join(here, "d-cut"));
    expect(names()).toEqual(before);
    // One whose monitor was killed, and then its program, is not said to have exited before somebody has looked.
    process.kill(JSON.parse(readFileSync(join(here, "b-runs/record.json"), "utf8")).monitor.pid, "SIGKILL");
    await until(() => existsSync(`/proc/${pid}`));
    expect((await Executor.list(here))[1]).toMatchObject({ id: "b-runs", state: "running" });

    // The same directory: each is adopted, or has its own error.
    const adoptions = await Executor.adoptAll({ stateDir: here });
    expect(adoptions.map(({ id, executor: one, error }) => [id, one?.state, (error as ExecutorError | undefined)?.code])).toEqual([
      ["a-ended", "exited", undefined],
      ["b-runs", "running", undefined],
      ["c-paused", "paused", undefined],
      ["d-cut", undefined, "state-unreadable"],
      ["e-empty", undefined, "state-unreadable"],
      ["f-newer", undefined, "protocol"],
      ["g-nothing", undefined, "state-unreadable"],
      ["h-never", "failed", undefined],
      ["i-begun", "failed", undefined],
      ["j-damaged", undefined, "state-unreadable"],
    ]);
    expect((await adoptions[0]!.executor!.wait()).exitCode).toBe(7);
    expect(await adoptions[1]!.executor!.exec({ cmd: "echo", args: ["adopted"] })).toMatchObject({ exitCode: 0 });
    expect(["h-never", "i-begun"].filter((id) => existsSync(join(here, id)))).toEqual([]);
    await expect(Executor.adoptAll({ stateDir: here, binary: "/nowhere/runt" })).rejects.toMatchObject({ code: "runtime-not-found" });
    for (const id of ["d-cut", "e-empty", "f-newer", "g-nothing", "j-damaged"]) rmSync(join(here, id), { recursive: true });
    unlinkSync(join(here, "a-file"));
  });

  row(
    "X43",
    "statsStream: a value at once and then every interval, until the container ends; no value is missed, and no timer is left",
    async () => {
      const one = executor();
      const { pid } = await one.launch(script("(while :; do :; done) & wait"));
      const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
      const before = timers();
      const times: number[] = [];
      let busiest = 0;
      let processes = 0;
      // How long a value takes depends on who else has the processors: it is ended after the tenth, not after a time.
      let ended: Promise<unknown> | undefined;
      for await (const { cpu, atMs, processes: list } of one.statsStream({ intervalMs: 100 })) {
        times.push(atMs);
        busiest = Math.max(busiest, cpu.percent?.total ?? 0);
        if (list.some((each) => each.pid === pid)) processes++;
        if (times.length === 10) ended = one.shutdown({ graceMs: 0 });
      }
      await ended;
      expect((await one.wait()).exitCode).not.toBeNull();
      expect(times.length).toBeGreaterThanOrEqual(10);
      expect((times[9] ?? 0) - (times[0] ?? 0)).toBeGreaterThan(500);
      // They may end while the last values are taken.
      expect(processes).toBeGreaterThanOrEqual(10);
      expect(busiest).toBeGreaterThan(1);
      expect(timers()).toBeLessThanOrEqual(before);
      expect(() => one.statsStream()).toThrow(expect.objectContaining({ code: "wrong-state" }));
    },
  );

  row("X43", "statsStream: a loop that ends early leaves nothing behind, and the container goes on", async () => {
    const one = executor();
    await one.launch(script("exec sleep 1000"));
    for (const intervalMs of [0, 9, -1, Number.NaN, Number.POSITIVE_INFINITY])
      expect(() => one.statsStream({ intervalMs })).toThrow(expect.objectContaining({ code: "invalid-argument" }));
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    let count = 0;
    for await (const _ of one.statsStream({ intervalMs: 10 })) if (++count === 5) break;
    expect(count).toBe(5);
    expect(timers()).toBeLessThanOrEqual(before);
    // A wait of an hour ends at once by an abort, and by the end of the container.
    const stop = new AbortController();
    const reason = new Error("enough");
    const stream = one.statsStream({ intervalMs: 3_600_000, signal: stop.signal });
    expect((await stream.next()).done).toBe(false);
    const waiting = stream.next();
    setTimeout(() => stop.abort(reason), 50);
    await expect(waiting).rejects.toMatchObject({ name: "ExecutorError", code: "aborted", cause: reason });
    expect(await stream.next()).toEqual({ done: true, value: undefined });
    await expect(one.statsStream({ signal: AbortSignal.abort(reason) }).next()).rejects.toMatchObject({ code: "aborted" });
    expect(timers()).toBeLessThanOrEqual(before);
    const last = one.statsStream({ intervalMs: 3_600_000 });
    await last.next();
    const from = performance.now();
    const [end] = await Promise.all([last.next(), one.shutdown({ graceMs: 0 })]);
    expect(end.done).toBe(true);
    expect(performance.now() - from).toBeLessThan(60_000);
    expect(timers()).toBeLessThanOrEqual(before);
  });

  row(
    "X44",
    "state is paused, no matter which program paused the container, and running again afterwards; a paused container can be ended",
    async () => {
      const states: string[] = [];
      const one = executor({ onEvent: (event) => event.type === "state" && states.push(event.state) });
      await one.launch(script("exec sleep 1000"));
      expect(one.state).toBe("running");
      await one.pause();
      expect(one.state).toBe("paused");
      const adopted = await Executor.adopt({ stateDir, id: one.id });
      expect(adopted.state).toBe("paused");
      await expect(one.pause()).rejects.toMatchObject({ code: "wrong-status" });
      await adopted.resume();
      expect([one.state, adopted.state]).toEqual(["running", "running"]);
      // Neither of the two has done it.
      const runtime = new Runtime({ root: join(stateDir, "@runtime") });
      await runtime.pause(one.id);
      expect([one.state, adopted.state]).toEqual(["paused", "paused"]);
      await runtime.resume(one.id);
      expect([one.state, adopted.state]).toEqual(["running", "running"]);
      await one.pause();
      expect(await one.shutdown({ graceMs: 0 })).toMatchObject({ endedBy: "kill", state: { exitCode: 137 } });
      expect(one.state).toBe("exited");
      expect(states).toEqual(["launching", "running", "paused", "paused", "killing", "exited"]);
    },
  );

  row("X45", "an unknown capability is refused before anything is made, and the error names it", async () => {
    const unknown = ["CAP_NET_ADMINN", "NET_ADMIN", "cap_net_admin", "CAP_41", "CAP_", "", " CAP_CHOWN"];
    for (const name of unknown) {
      for (const capabilities of [[name], { bounding: ["CAP_CHOWN", name] }, { ambient: [name] }, { inheritable: [name] }]) {
        const one = executor();
        const error = (await one.launch(script("true", { capabilities })).catch((thrown: unknown) => thrown)) as ExecutorError;
        expect(error).toBeInstanceOf(ExecutorError);
        expect([error.code, error.details["name"], error.message]).toEqual([
          "invalid-argument",
          name,
          expect.stringContaining(JSON.stringify(name)),
        ]);
        expect([one.state, existsSync(join(stateDir, one.id))]).toEqual(["idle", false]);
      }
      const process = { args: ["/bin/true"], cwd: "/", capabilities: { effective: [name] } };
      await expect(executor().launch({ rootfs: ownRootfsOnce(), process })).rejects.toMatchObject({
        code: "invalid-argument",
        details: { field: "process.capabilities.effective", name },
      });
      const user = { uid: 0, gid: 0, additionalGids: [] };
      expect(() => toConfig(script("true", { capabilities: [name] }), { id: "x", user, cgroupVersion: 1 })).toThrow(/capabilit/);
    }
    await expect(executor().launch(script("true", { capabilities: ["NET_ADMIN"] }))).rejects.toThrow(/use CAP_NET_ADMIN/);
    // Every name that this kernel has is none of them, and the error lists those there are.
    const error = (await executor()
      .launch(script("true", { capabilities: ["nope"] }))
      .catch((thrown: unknown) => thrown)) as ExecutorError;
    expect(error.details["allowed"]).toEqual(CAPABILITIES);
    const one = executor();
    const all = hostCapabilities().filter((name) => (CAPABILITIES as readonly string[]).includes(name));
    await one.launch(script("exit 0", { capabilities: all }));
    expect((await one.wait()).exitCode).toBe(0);
  });

  let made = "";
  const ownRootfsOnce = () => (made ||= ownRootfs());

  row("X46", "a program that is missing or cannot be executed is the same error in every call", async () => {
    const rootfs = ownRootfs();
    const file = (name: string, text: string, mode = 0o755) => writeFileSync(join(rootfs, "bin", name), text, { mode });
    file("plain", "#!/bin/sh\n", 0o644);
    file("orphan", "#!/bin/nowhere\n");
    file("windows", "#!/bin/sh\r\n");
    file("cut", "\x7fELF garbage");
    file("text", "");
    mkdirSync(join(rootfs, "bin/directory"));
    symlinkSync("loop", join(rootfs, "bin/loop"));
    cpSync(process.execPath, join(rootfs, "bin/dynamic"));
    const cases: readonly (readonly [cmd: string, reason: string, shellStatus: 126 | 127, program?: string])[] = [
      ["nowhere", "not-found", 127],
      ["/bin/nowhere", "not-found", 127],
      ["/bin/sh/x", "not-found", 127],
      ["/bin/loop", "not-found", 127],
      ["/bin/plain", "not-executable", 126],
      ["plain", "not-executable", 126],
      ["/bin/directory", "not-executable", 126],
      ["/bin/orphan", "interpreter-missing", 127],
      ["orphan", "interpreter-missing", 127, "/bin/orphan"],
      ["/bin/windows", "interpreter-missing", 127],
      ["/bin/dynamic", "interpreter-missing", 127],
      ["/bin/cut", "wrong-format", 126],
      ["/bin/text", "wrong-format", 126],
    ];
    const host = executor();
    await host.launch({ rootfs, cmd: "sleep", args: ["1000"], cgroupParent: CGROUP_PARENT });
    const runtime = new Runtime({ root: join(directory, "programs") });
    for (const [cmd, reason, shellStatus, program = cmd] of cases) {
      const bundle = join(directory, `program-${reason}-${cmd.replaceAll("/", "_")}`);
      mkdirSync(bundle);
      const config = sampleConfig("hello");
      Object.assign(config, { root: { path: rootfs } });
      config.linux.cgroupsPath = `${CGROUP_PARENT}/program`;
      config.process.args = [cmd];
      config.process.env = ["PATH=/bin"];
      writeFileSync(join(bundle, "config.json"), JSON.stringify(config));
      const started = async () => {
        await runtime.create("program", { bundle });
        await runtime.start("program").finally(() => runtime.delete("program", { force: true }));
      };
      const one = executor();
      const calls = {
        launch: () => one.launch({ rootfs, cmd, cgroupParent: CGROUP_PARENT }),
        exec: () => host.exec({ cmd }),
        spawn: () => host.spawn({ cmd }),
        "spawn with a terminal": () => host.spawn({ cmd, pty: true }),
        "create or start": started,
        run: () => runtime.run("program", { bundle }),
        "Runtime.exec": () => new Runtime({ root: join(stateDir, "@runtime") }).exec(host.id, { args: [cmd] }),
      };
      for (const [name, call] of Object.entries(calls)) {
        const error = await call().then(
          () => undefined,
          (thrown: unknown) => thrown,
        );
        expect(error, `${name} ${cmd}`).toBeInstanceOf(ProgramError);
        expect(error).toBeInstanceOf(RuntimeError);
        expect({ ...(error as ProgramError), call: name, cmd }).toMatchObject({
          code: "program-not-runnable",
          name: "ProgramError",
          reason,
          shellStatus,
          program,
        });
      }
      expect(one.state).toBe("failed");
    }
    // What is something else stays something else.
    const other = await host.exec({ cmd: "true", cwd: "/nowhere" }).catch((thrown: unknown) => thrown);
    expect(other).toBeInstanceOf(RuntimeError);
    expect(other).not.toBeInstanceOf(ProgramError);
    expect(await host.exec({ cmd: "sh", args: ["-c", "echo 'exec: \"x\": permission denied' >&2; exit 127"] })).toMatchObject({
      exitCode: 127,
    });
    expect((await host.stats()).processes).toHaveLength(1);
    expect(readdirSync(join(stateDir, host.id)).filter((name) => name.startsWith("exec-"))).toEqual([]);
  });
});
