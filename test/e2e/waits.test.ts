/** Whatever somebody else does meanwhile, every verb ends: by itself within its bound, by a signal, by `delete --force`. */
import { existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, appears, heedsTerm, isAlive, useBackground } from "../support/background.ts";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** Paths of the open files of a process. */
function opened(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return readlinkSync(`/proc/${pid}/fd/${fd}`);
    } catch {
      // It has been closed meanwhile.
      return [];
    }
  });
}

describe.skipIf(!isRoot || !isRunt)("waits and their bounds (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root } = harness;
  const { begin, timed, exists, initOf, running } = useBackground(harness);

  type Kind = "createRuntime" | "createContainer" | "startContainer" | "poststart";
  /** A hook that says that it runs, and does not end. */
  const hanging = (kind: Kind, change: (config: Config) => void = () => {}) => {
    const log = join(directory, `log-${Math.random().toString(36).slice(2)}`);
    mkdirSync(log, { mode: 0o777 });
    const path = bundle((config) => {
      shell(config, "exec sleep 1000");
      config.mounts.push({ destination: "/log", type: "bind", source: log, options: ["rbind"] });
      const place = kind === "startContainer" ? "/log" : log;
      config.hooks = {
        [kind]: [{ path: "/bin/sh", args: ["sh", "-c", `echo $$ > ${place}/new; mv ${place}/new ${place}/pid; exec sleep 1000`] }],
      };
      change(config);
    });
    return { path, runs: join(log, "pid") };
  };
  describe("a startContainer hook that does not end", () => {
    const begun = async () => {
      const { path, runs } = hanging("startContainer");
      const name = id();
      await ok(["create", "-b", path, name]);
      const starting = begin(["start", name]);
      await appears(runs);
      // Long waits do not hold the lock.
      await sleep(500);
      return { name, starting };
    };

    test.skipIf(!hasControllers)("no other verb waits for it, and delete --force ends it", async () => {
      const { name, starting } = await begun();
      const init = await initOf(name);
      expect(JSON.parse(await ok(["state", name])).status).toBe("running");
      expect(await timed(["start", name])).toMatchObject({ status: 1, stderr: "runt: cannot start an already running container" });
      for (const verb of ["pause", "resume"]) expect((await timed([verb, name])).status).toBe(0);
      expect((await timed(["update", "--pids-limit", "50", name])).status).toBe(0);
      const deleted = await timed(["delete", "--force", name]);
      expect(deleted).toMatchObject({ status: 0, stderr: "" });
      expect(deleted.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect([exists(name), isAlive(init)]).toEqual([false, false]);
      expect(await starting.ended).toMatchObject({ status: 1, stderr: "runt: cannot start a container that has stopped" });
    });

    test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)("%s to start kills init and leaves the container stopped", async (signal) => {
      const { name, starting } = await begun();
      const init = await initOf(name);
      starting.process.kill(signal);
      const ended = await starting.ended;
      expect(ended.status).toBe({ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal]);
      expect(ended.stderr.split("\n")).toHaveLength(1);
      expect(isAlive(init)).toBe(false);
      expect(JSON.parse(await ok(["state", name])).status).toBe("stopped");
      await ok(["delete", name]);
    });

    test("the id may be another container's when it ends: that is not touched", async () => {
      const { name, starting } = await begun();
      await ok(["delete", "--force", name]);
      await ok(["create", "-b", bundle((config) => shell(config, "exec sleep 1000")), name]);
      await starting.ended;
      expect(JSON.parse(await ok(["state", name])).status).toBe("created");
    });
  });

  describe.each(["createRuntime", "createContainer"] as const)("a %s hook that does not end", (kind) => {
    test("delete --force ends it, and create takes back what it has made", async () => {
      const { path, runs } = hanging(kind);
      const name = id();
      const creating = begin(["create", "-b", path, name]);
      await appears(runs);
      const hook = Number(readFileSync(runs, "utf8")) || 0;
      const deleted = await timed(["delete", "--force", name]);
      expect(deleted).toMatchObject({ status: 0, stderr: "" });
      expect(deleted.milliseconds).toBeLessThan(AT_ONCE_MS);
      expect((await creating.ended).status).toBe(143);
      expect([exists(name), kind === "createRuntime" && isAlive(hook)]).toEqual([false, false]);
    });

    test("so does a runtime that is stopped", async () => {
      const { path, runs } = hanging(kind);
      const name = id();
      const creating = begin(["create", "-b", path, name]);
      await appears(runs);
      creating.process.kill("SIGSTOP");
      const deleted = await timed(["delete", "--force", name]);
      expect(deleted).toMatchObject({ status: 0, stderr: "" });
      expect(deleted.milliseconds).toBeLessThan(PATIENCE_MS);
      expect(exists(name)).toBe(false);
      // Only the runtime itself ends its hook.
      if (kind === "createRuntime") process.kill(Number(readFileSync(runs, "utf8")), "SIGKILL");
    });

    test.each(["create", "run"])("TERM to %s ends it, and a second one does not stop it half-way", async (verb) => {
      const { path, runs } = hanging(kind, (config) => {
        const poststop = { path: "/bin/sh", args: ["sh", "-c", `sleep 0.5; echo done > ${directory}/poststop-${verb}-${kind}`] };
        config.hooks = { ...(config.hooks as object), poststop: [poststop] };
      });
      const name = id();
      const creating = begin([verb, "-b", path, name]);
      await appears(runs);
      creating.process.kill("SIGTERM");
      await sleep(200);
      creating.process.kill("SIGTERM");
      const ended = await creating.ended;
      expect(ended).toMatchObject({ status: 143, stderr: "runt: TERM: ended before the program began" });
      expect(existsSync(`${directory}/poststop-${verb}-${kind}`)).toBe(true);
      expect(exists(name)).toBe(false);
      rmSync(`${directory}/poststop-${verb}-${kind}`);
    });
  });

  test("create gives up on an init that somebody stops, as who shares its pid namespace may", async () => {
    const { path, runs } = hanging("createContainer");
    const name = id();
    const creating = begin(["create", "-b", path, name]);
    await appears(runs);
    // The process that has cloned init has ended by then; an init of the head start, whose plan was another one, may not be reaped yet.
    const children = () =>
      readFileSync(`/proc/${creating.pid}/task/${creating.pid}/children`, "utf8").trim().split(" ").map(Number).filter(isAlive);
    await expect.poll(() => children().length).toBe(1);
    const init = children()[0]!;
    process.kill(init, "SIGSTOP");
    const ended = await creating.ended;
    expect(ended).toMatchObject({
      status: 1,
      stderr: expect.stringContaining(`process ${init}, which becomes the program, was stopped (SIGSTOP)`),
    });
    expect(ended.milliseconds).toBeLessThan(PATIENCE_MS);
    expect([exists(name), isAlive(init)]).toEqual([false, false]);
  });

  test("TERM to run --exit-record ends the process that it has left, too", async () => {
    const { path, runs } = hanging("createRuntime");
    const [name, record] = [id(), join(directory, "exit.json")];
    const creating = begin(["run", "-d", "--exit-record", record, "-b", path, name]);
    await appears(runs);
    await sleep(100);
    creating.process.kill("SIGTERM");
    expect((await creating.ended).status).toBe(143);
    expect([exists(name), existsSync(record)]).toEqual([false, false]);
  });

  test("a signal that the caller ignores ends nothing", async () => {
    const { path, runs } = hanging("createRuntime");
    const name = id();
    const creating = begin(["create", "-b", path, name], ["nohup", RUNTIME, "--root", root]);
    await appears(runs);
    await sleep(100);
    creating.process.kill("SIGHUP");
    await sleep(300);
    expect(creating.process.exitCode).toBe(null);
    creating.process.kill("SIGTERM");
    expect((await creating.ended).status).toBe(143);
  });

  test("a verb that finds the container locked for too long says by whom", async () => {
    const name = await running();
    const held = join(directory, `held-${name}`);
    const holder = begin(["--no-fork", join(root, name), "sh", "-c", `: > ${held}; exec sleep 1000`], ["flock"]);
    await appears(held);
    const paused = await timed(["pause", name]);
    expect(paused.status).toBe(1);
    expect(paused.milliseconds).toBeGreaterThan(9_000);
    expect(paused.milliseconds).toBeLessThan(PATIENCE_MS);
    expect(paused.stderr).toContain(`container ${name} has been locked for more than 10 s by process ${holder.pid} (sleep `);
    // It is no runt, so nobody ends it; init has been killed by then.
    const deleted = await timed(["delete", "--force", name]);
    expect(deleted).toMatchObject({ status: 1, stderr: expect.stringContaining(`by process ${holder.pid} (sleep `) });
    expect(deleted.stderr).toMatch(/\(wait for it, or end it\)$/);
    expect(holder.process.exitCode).toBe(null);
  });

  test.each([["start"], ["pause"], ["resume"], ["update", "--pids-limit", "30"], ["delete"]])(
    "%s, whose container goes while it waits for the lock, says that it does not exist, also when another create has begun with its id",
    async (...words) => {
      const name = await running();
      const [held, place, kept] = [join(directory, `held-${name}`), join(root, name), join(directory, `kept-${name}.json`)];
      const holder = begin(["--no-fork", place, "sh", "-c", `: > ${held}; while [ -e ${held} ]; do sleep 0.05; done`], ["flock"]);
      await appears(held);
      // One verb at a time: it waits for 10 s at the most, in which a busy machine may not begin five.
      const { process, pid, ended } = begin([...words, name]);
      // It has read the record, and opens the directory to lock it. What one that ends before says is seen below.
      await expect.poll(() => process.exitCode !== null || opened(pid).includes(place), { interval: 10 }).toBe(true);
      // A create has made the directory, and has not locked it yet.
      renameSync(join(place, "state.json"), kept);
      try {
        rmSync(held);
        expect(await ended).toMatchObject({ status: 1, stderr: expect.stringContaining(`runt: container does not exist: ${name}`) });
        await holder.ended;
      } finally {
        // Without its record the container could not be ended.
        renameSync(kept, join(place, "state.json"));
      }
    },
  );

  describe("sockets of the caller that nobody accepts from", () => {
    /** A listening socket whose queue is full. */
    const silent = async (): Promise<string> => {
      const path = join(directory, `silent-${Math.random().toString(36).slice(2)}`);
      const script = `import socket,sys,time
s=socket.socket(socket.AF_UNIX); s.bind(sys.argv[1]); s.listen(0); c=[]
for i in range(2):
  x=socket.socket(socket.AF_UNIX); x.setblocking(False)
  try: x.connect(sys.argv[1]); c.append(x)
  except BlockingIOError: pass
open(sys.argv[1]+".full","w").close(); time.sleep(1000)`;
      begin(["-c", script, path], ["python3"]);
      await appears(`${path}.full`);
      return path;
    };

    test.each(["--console-socket", "--pidfd-socket"])("%s: TERM ends create", async (flag) => {
      const name = id();
      const path = bundle((config) => {
        shell(config, "exec sleep 1000");
        config.process.terminal = flag === "--console-socket";
      });
      const creating = begin(["create", "-b", path, flag, await silent(), name]);
      await heedsTerm(creating);
      await sleep(800);
      expect(creating.process.exitCode).toBe(null);
      creating.process.kill("SIGTERM");
      expect(await creating.ended).toMatchObject({ status: 143 });
      expect(exists(name)).toBe(false);
    });

    test("--pidfd-socket: it has a bound of its own", async () => {
      const name = id();
      const created = await timed([
        "create",
        "-b",
        bundle((config) => shell(config, "exec sleep 1000")),
        "--pidfd-socket",
        await silent(),
        name,
      ]);
      expect(created).toMatchObject({ status: 1, stderr: expect.stringContaining("connection timed out") });
      expect(created.milliseconds).toBeLessThan(PATIENCE_MS);
      expect(exists(name)).toBe(false);
    });
  });
});
