/** Behaviour that every client relies on, one rule a test. The calls of single clients are in the other files. */
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { inViewOfV1 } from "../support/crun.ts";
import { isRoot, isRunt, RUNTIME, SLOW, shell } from "../support/harness.ts";
import { Client, strictPid } from "./client.ts";
import { PATH, useClients, waits } from "./support.ts";

const STRACE = "/usr/bin/strace";
const CRUN = "/usr/bin/crun";
const SILENT = { status: 0, text: "" };

/** Pids whose parent is this one. */
function childrenOf(parent: number): readonly number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && parentOf(Number(name)) === parent)
    .map(Number);
}

function parentOf(pid: number): number {
  try {
    return Number(/\nPPid:\t(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
  } catch {
    return 0;
  }
}

describe.skipIf(!isRoot || !isRunt)("rules that bind every client", () => {
  const { bundle, client, directory, id, root: roots } = useClients();
  const root = join(roots, "rules");
  const runtime = (...words: readonly string[]) => [RUNTIME, "--root", root, ...words];

  async function created(engine: Client, path: string, name = id()) {
    const pidFile = join(path, "pid");
    const [stdout, stderr] = [engine.pipe(), engine.pipe()];
    const call = await engine.start(runtime("create", "--bundle", path, "--pid-file", pidFile, name), { stdio: ["null", stdout, stderr] });
    expect(await call.status).toBe(0);
    return { name, pid: strictPid(readFileSync(pidFile, "utf8")), call: call.pid, stdout, stderr };
  }

  test("rule 1: create ends, init is the caller's to wait for, and nobody else holds its descriptors", async () => {
    const engine = client();
    const { name, pid, call, stdout, stderr } = await created(
      engine,
      bundle((config) => shell(config, "echo out; exit 1")),
    );
    expect(existsSync(`/proc/${call}`)).toBe(false);
    expect(childrenOf(engine.pid)).toEqual([pid]);
    expect(await engine.run(runtime("start", name))).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(1);
    // The end of both files: no helper has copies of them.
    expect([await stdout.all(), await stderr.all()]).toEqual(["out\n", ""]);
    expect(childrenOf(engine.pid)).toEqual([]);
  });

  test("rule 2: the pid file has digits only, is renamed into place, and is absent after a failure", async () => {
    const engine = client();
    const path = bundle(waits);
    writeFileSync(join(path, "pid"), "stale content that is longer than any pid\n");
    const before = statSync(join(path, "pid")).ino;
    const { pid } = await created(engine, path);
    expect(readFileSync(join(path, "pid"), "utf8")).toBe(String(pid));
    expect(statSync(join(path, "pid")).ino).not.toBe(before);
    expect(readdirSync(path).sort()).toEqual(["config.json", "pid"]);
    const failing = bundle((config) => {
      config.process.args = ["nowhere"];
    });
    expect((await engine.run(runtime("create", "-b", failing, "--pid-file", join(failing, "pid"), id()))).status).toBe(1);
    expect(readdirSync(failing)).toEqual(["config.json"]);
  });

  test("rule 3: a failure is exactly one JSON value in the log, a success is nothing, with warnings too", async () => {
    const engine = client();
    const log = join(directory, "rule-3.json");
    const logged = (...words: readonly string[]) => engine.run(runtime("--log", log, "--log-format", "json", ...words), { env: PATH });
    const warning = bundle((config) => {
      waits(config);
      config.linux["seccomp"] = { defaultAction: "SCMP_ACT_ALLOW", syscalls: [{ names: ["no_such_call"], action: "SCMP_ACT_ERRNO" }] };
    });
    const name = id();
    const output = engine.file(join(directory, "rule-3"));
    const command = runtime("--log", log, "--log-format", "json", "run", "--detach", "-b", warning, name);
    expect(await (await engine.start(command, { stdio: ["null", output, output], env: PATH })).status).toBe(0);
    expect(readFileSync(join(directory, "rule-3"), "utf8")).toBe("");
    expect(existsSync(log) ? readFileSync(log, "utf8") : "").toBe("");
    expect((await logged("start", name)).status).toBe(1);
    const text = readFileSync(log, "utf8");
    expect(text.endsWith("}\n")).toBe(true);
    expect(JSON.parse(text)).toMatchObject({
      level: "error",
      msg: "cannot start an already running container",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/),
    });
  });

  test.skipIf(!existsSync(STRACE)).each([
    ["without --log", []],
    ["with --log", ["--log", "LOG", "--log-format", "json"]],
    ["with a text log", ["--log=LOG"]],
  ])("rule 4: %s the words are on stderr, in one write", async (_, words) => {
    const engine = client();
    const [stdout, stderr] = [engine.pipe(), engine.pipe()];
    const globals = words.map((word) => word.replace("LOG", join(directory, "rule-4")));
    const command = [RUNTIME, "--root", root, ...globals, "kill", "nobody", "9"];
    const traced = join(directory, "rule-4.trace");
    // strace sees every write to descriptor 2.
    const call = await engine.start([STRACE, "-f", "-o", traced, "-e", "trace=write", ...command], {
      stdio: ["null", stdout, stderr],
      env: PATH,
    });
    expect(await call.status).toBe(1);
    expect(await stdout.all()).toBe("");
    expect(await stderr.all()).toMatch(/^[^\n]*container does not exist: nobody[^\n]*\n$/);
    expect(readFileSync(traced, "utf8").match(/write\(2, /g)).toHaveLength(1);
  });

  test.each([
    [["state", "ID"]],
    [["ps", "--format", "json", "ID"]],
    [["list", "--format", "json"]],
    [["features"]],
    [["events", "--stats", "ID"]],
  ])("rule 5: %s says nothing but its document on both outputs", async (words) => {
    const engine = client();
    const { name } = await created(engine, bundle(waits));
    const { status, text } = await engine.run(runtime(...words.map((word) => word.replace("ID", name))));
    expect(status).toBe(0);
    expect(typeof JSON.parse(text)).toBe("object");
  });

  test.each([["create"], ["start"], ["pause"], ["resume"], ["kill"], ["delete", "--force"]])("rule 5: %s is silent", async (...verb) => {
    const engine = client();
    const path = bundle(waits);
    const name = verb[0] === "create" ? id() : (await created(engine, path)).name;
    const output = engine.file(join(directory, `silent-${name}`));
    if (verb[0] === "resume") await engine.run(runtime("pause", name));
    const words = verb[0] === "create" ? ["create", "-b", path, name] : [...verb, name];
    const { status } = await engine.start(runtime(...words), { stdio: ["null", output, output] });
    expect([await status, readFileSync(join(directory, `silent-${name}`), "utf8")]).toEqual([0, ""]);
  });

  test("rule 6: the status of run and exec is the program's, 128 + n for a signal; 255 when exec itself fails, 1 for anything else", async () => {
    const engine = client();
    const { name } = await created(engine, bundle(waits));
    await engine.run(runtime("start", name));
    const statusOf = async (...words: readonly string[]) => (await engine.run(runtime(...words))).status;
    expect(await statusOf("exec", name, "sh", "-c", "exit 42")).toBe(42);
    expect(await statusOf("exec", name, "sh", "-c", "kill -TERM $$")).toBe(143);
    expect(await statusOf("exec", name, "nowhere")).toBe(255);
    expect(await statusOf("exec", "nobody", "true")).toBe(255);
    expect(
      await statusOf(
        "run",
        "-b",
        bundle((config) => shell(config, "exit 43")),
        id(),
      ),
    ).toBe(43);
    expect(await statusOf("run", "-b", join(directory, "nowhere"), id())).toBe(1);
    expect(await statusOf("start", name)).toBe(1);
  });

  test.each([
    [["delete", "nobody"], "does not exist"],
    [["kill", "nobody", "9"], "does not exist"],
    [["state", "nobody"], "does not exist"],
    [["kill", "STOPPED", "9"], "container not running"],
    [["exec", "RUNNING", "nowhere"], "executable file not found in $PATH"],
    [["exec", "RUNNING", "/no/where"], "no such file or directory"],
    [["exec", "RUNNING", "/etc/passwd"], "permission denied"],
    [["exec", "RUNNING", "/etc"], "is a directory"],
    [["exec", "RUNNING", "/etc/passwd/x"], "not a directory"],
    [["kill", "--root"], "flag provided but not defined"],
    [["exec", "--cwd"], "flag needs an argument"],
  ])("rule 7: the words of %s: %s", async (words, expected) => {
    const engine = client();
    const running = await created(engine, bundle(waits));
    await engine.run(runtime("start", running.name));
    const stopped = await created(engine, bundle(waits));
    await engine.run(runtime("kill", stopped.name, "KILL"));
    await engine.exited(stopped.pid);
    const ids: Readonly<Record<string, string>> = { RUNNING: running.name, STOPPED: stopped.name };
    const { status, text } = await engine.run(runtime(...words.map((word) => ids[word] ?? word)));
    expect(status).not.toBe(0);
    expect(text).toContain(expected);
  });

  test("rule 7: nothing but what is not permitted says so: a program that is missing must not end with 126", async () => {
    const engine = client();
    const { name } = await created(engine, bundle(waits));
    await engine.run(runtime("start", name));
    for (const program of ["nowhere", "/no/where"]) {
      expect((await engine.run(runtime("exec", name, program))).text).not.toMatch(/permission denied|operation not permitted/i);
    }
  });

  test("rule 8: a call that is killed with its client can be removed by force, whenever that was", async () => {
    const path = bundle(waits);
    for (let round = 0; round < 24; round++) {
      const [engine, name] = [new Client(), id()];
      try {
        const started = engine.start(runtime("create", "-b", path, name), { stdio: ["null", "null", "null"] });
        await started;
        await sleep(round * 0.4 * SLOW);
      } finally {
        await engine.end("SIGKILL");
      }
      const next = client();
      expect(await next.run(runtime("delete", "--force", name))).toEqual(SILENT);
      expect(existsSync(root) ? readdirSync(root) : []).not.toContain(name);
    }
  });

  test("rule 8: without any environment every verb works", async () => {
    const engine = client();
    const { name, pid } = await created(engine, bundle(waits));
    for (const words of [
      ["start", name],
      ["exec", name, "/bin/true"],
      ["pause", name],
      ["resume", name],
      ["kill", name, "9"],
    ])
      expect(await engine.run(runtime(...words), { env: {} })).toEqual(SILENT);
    expect(await engine.exited(pid)).toBe(137);
    expect(await engine.run(runtime("delete", name), { env: {} })).toEqual(SILENT);
  });

  test("rule 9: delete --force of an id that never was is a success, and makes nothing", async () => {
    const engine = client();
    const empty = join(directory, "rule-9");
    expect(await engine.run([RUNTIME, "--root", empty, "delete", "--force", "nobody"])).toEqual(SILENT);
    expect(existsSync(empty)).toBe(false);
    mkdirSync(empty);
    expect(await engine.run([RUNTIME, "--root", empty, "delete", "--force", "nobody"])).toEqual(SILENT);
    expect(readdirSync(empty)).toEqual([]);
  });

  test.skipIf(!existsSync(CRUN))("rule 10: the state, which is asked for all the time, comes faster than from crun", async () => {
    const engine = client();
    const path = bundle(waits);
    const { name } = await created(engine, path);
    const [peer, peerRoot] = [id(), join(directory, "crun")];
    // Both are called in the view that crun needs: the way there costs both the same.
    const [file = "", ...args] = inViewOfV1(["sh", "-c", "echo; exec sleep 1000"]);
    const holder = spawn(file, args, { stdio: ["ignore", "pipe", "inherit"], detached: true });
    await new Promise((done) => holder.stdout.once("data", done));
    const there = ["/usr/bin/nsenter", `--mount=/proc/${holder.pid}/ns/mnt`];
    const crun = (...words: readonly string[]) => [...there, CRUN, "--root", peerRoot, "--cgroup-manager", "disabled", ...words];
    const times = { runt: [] as number[], crun: [] as number[] };
    try {
      const { status } = await engine.start(crun("create", "-b", bundle(waits), peer), { stdio: ["null", "null", "null"] });
      expect(await status).toBe(0);
      for (let round = 0; round < 30; round++) {
        for (const [who, command] of [
          ["runt", [...there, ...runtime("state", name)]],
          ["crun", crun("state", peer)],
        ] as const) {
          const started = process.hrtime.bigint();
          expect((await engine.run(command)).status).toBe(0);
          times[who].push(Number(process.hrtime.bigint() - started) / 1e6);
        }
      }
    } finally {
      await engine.run(crun("delete", "--force", peer));
      process.kill(-holder.pid!, "SIGKILL");
    }
    expect(Math.min(...times.runt)).toBeLessThan(Math.min(...times.crun));
  });
});
