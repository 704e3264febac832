/** Rows X37 to X41: further processes with streams, a terminal, signals, AbortSignal and `await using`. */
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { promisify } from "node:util";
import { describe, expect } from "vitest";
import { type ExecHandle, Executor, ExecutorError } from "../../src/executor/index.ts";
import { isGone, isRoot, row, sleep, textOf, until, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: spawn (needs root)", () => {
  const { directory, executor, script, stateDir } = useExecutors();

  async function running(): Promise<Executor> {
    const one = executor();
    await one.launch(script("exec sleep 1000"));
    return one;
  }

  const shell = (text: string) => ({ cmd: "sh", args: ["-c", text] });

  /** What runs in the container beside its program. */
  const others = async (one: Executor) => (await one.stats()).processes.filter(({ pid }) => pid !== one.process!.pid);

  /** Nothing of an exec is on disk, and no cgroup of it. */
  function expectNothingLeft(one: Executor): void {
    expect(readdirSync(join(stateDir, one.id)).filter((name) => name.startsWith("exec-"))).toEqual([]);
    for (const path of containerCgroups(one))
      expect(readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory())).toEqual([]);
  }

  row("X37", "spawn: each process has its own standard streams while it runs, and its own exit status", async () => {
    const one = await running();
    const handle = await one.spawn({ ...shell("read a; echo out $a; echo err $a >&2; read b; exit $b"), stdio: { stdin: "pipe" } });
    expect(readFileSync(`/proc/${handle.pid}/comm`, "utf8")).toBe("sh\n");
    expect((await others(one)).map(({ pid }) => pid)).toContain(handle.pid);
    handle.stdin!.write("one\n");
    expect(String(await once(handle.stdout!, "data"))).toBe("out one\n");
    expect(String(await once(handle.stderr!, "data"))).toBe("err one\n");
    handle.stdin!.end("7\n");
    expect(await handle.wait()).toEqual({ exitCode: 7, timedOut: false });
    expect(await handle.wait()).toEqual({ exitCode: 7, timedOut: false });
    expect([await textOf(handle.stdout), await textOf(handle.stderr)]).toEqual(["", ""]);
    expectNothingLeft(one);
  });

  row("X37", "spawn: output without a reader blocks the process, and a later reader gets the whole megabyte", async () => {
    const one = await running();
    const handle = await one.spawn(shell("dd if=/dev/zero bs=1024 count=1024 2>/dev/null; exit 3"));
    await sleep(200);
    expect(isGone(handle.pid)).toBe(false);
    expect((await textOf(handle.stdout)).length).toBe(1 << 20);
    expect((await handle.wait()).exitCode).toBe(3);
  });

  row("X37", "spawn: a later reader gets the output, even if the process has ended", async () => {
    const one = await running();
    for (const pty of [false, true]) {
      const handle = await one.spawn({ ...shell("echo early"), pty });
      await handle.wait();
      await sleep(100);
      expect(await textOf(handle.stdout)).toBe("early\n");
    }
    // Who does not want it any more tells the process.
    const endless = await one.spawn(shell("while :; do echo x || exit 9; done"));
    endless.stdout!.destroy();
    expect((await endless.wait()).exitCode).not.toBe(0);
  });

  row("X37", "spawn: data is copied from and to streams of the caller, which stay open; files and FIFOs", async () => {
    const one = await running();
    const [input, output, errors] = [Readable.from(["a\n", "b\n"]), new PassThrough(), new PassThrough()];
    const handle = await one.spawn({ ...shell("cat; echo e >&2"), stdio: { stdin: input, stdout: output, stderr: errors } });
    expect([handle.stdin, handle.stdout, handle.stderr]).toEqual([undefined, undefined, undefined]);
    expect(await handle.wait()).toEqual({ exitCode: 0, timedOut: false });
    // All of it is there at the end, and they can be used again.
    expect([String(output.read()), String(errors.read())]).toEqual(["a\nb\n", "e\n"]);
    expect([output.writableEnded, output.destroyed, errors.writableEnded]).toEqual([false, false, false]);
    const again = await one.spawn({ ...shell("echo more"), stdio: { stdout: output } });
    await again.wait();
    expect(String(output.read())).toBe("more\n");
    // A caller's stream that is gone is a reader that is gone; one that goes on is not ended with the process.
    const gone = new PassThrough();
    const writer = await one.spawn({ ...shell("trap 'exit 5' PIPE; while :; do echo x; done"), stdio: { stdout: gone } });
    gone.destroy();
    expect((await writer.wait()).exitCode).not.toBe(0);
    const endless = new PassThrough();
    await (await one.spawn({ ...shell("read x"), stdio: { stdin: endless } })).signal("TERM");
    expect(endless.destroyed).toBe(false);

    const [from, to, fifo] = [join(directory, "from"), join(directory, "to"), join(directory, "fifo")];
    writeFileSync(from, "text\n");
    writeFileSync(to, "before\n");
    execFileSync("mkfifo", [fifo]);
    const reader = promisify(execFile)("head", ["-n1", fifo]);
    const files = await one.spawn({
      ...shell("cat; echo late >&2"),
      stdio: { stdin: { file: from }, stdout: { file: to }, stderr: { fifo } },
    });
    expect((await reader).stdout).toBe("late\n");
    await files.wait();
    expect(readFileSync(to, "utf8")).toBe("before\ntext\n");
    for (const stdio of [{ stdin: { file: fifo } }, { stdout: { fifo: to } }, { stdout: { file: "relative" } }, { stderr: 7 }] as never[]) {
      await expect(one.spawn({ cmd: "true", stdio })).rejects.toMatchObject({ code: "invalid-argument" });
    }
    await expect(one.spawn({ cmd: "true", pty: true, stdio: { stderr: "pipe" } })).rejects.toMatchObject({ code: "invalid-argument" });
    expectNothingLeft(one);
  });

  row(
    "X38",
    "spawn with a terminal: its size is right from the first moment, resize works, input arrives, and it is no other process's terminal",
    async () => {
      const one = await running();
      const watch =
        'stty size; until [ "$(stty size)" = \'40 100\' ]; do sleep 0.02; done; stty size; read line; echo "<$line>"; test -t 0 && test -t 1 && test -t 2';
      const handle = await one.spawn({ ...shell(watch), pty: { rows: 30, columns: 90 }, stdio: { stdin: "pipe" } });
      let text = "";
      handle.stdout!.on("data", (chunk) => {
        text += chunk;
      });
      await until(() => text === "30 90\n");
      handle.resize({ rows: 40, columns: 100 });
      await until(() => text === "30 90\n40 100\n");
      handle.stdin!.write("typed\n");
      expect(await handle.wait()).toEqual({ exitCode: 0, timedOut: false });
      await until(() => text.endsWith("<typed>\n"));
      expect(handle.stderr).toBeUndefined();
      expect(() => handle.resize({ rows: 1, columns: 1 })).toThrow(expect.objectContaining({ code: "wrong-state" }));
      const plain = await one.spawn(shell("sleep 1000"));
      expect(() => plain.resize({ rows: 1, columns: 1 })).toThrow(/has no terminal/);
      for (const rows of [0, -1, 1.5, 65_536, Number.NaN]) {
        expect(() => plain.resize({ rows, columns: 1 })).toThrow(expect.objectContaining({ code: "invalid-argument" }));
      }
      await plain.kill();
      expectNothingLeft(one);
    },
  );

  row("X38", "resize works for the executor's own terminal, also from another process; without a terminal it is an error", async () => {
    const one = executor();
    await one.launch(
      script(
        'stty size; old=; while :; do now=$(stty size); [ "$now" = "$old" ] || echo "$now"; old=$now; [ "$now" = \'5 6\' ] && exit 4; sleep 0.02; done',
        {
          pty: { rows: 20, columns: 70 },
        },
      ),
    );
    let text = "";
    one.stdout!.on("data", (chunk) => {
      text += chunk;
    });
    await until(() => text.endsWith("20 70\n"));
    one.resize({ rows: 21, columns: 71 });
    await until(() => text.endsWith("21 71\n"));
    const adopted = await Executor.adopt({ stateDir, id: one.id });
    adopted.resize({ rows: 5, columns: 6 });
    expect((await one.wait()).exitCode).toBe(4);
    expect(() => one.resize({ rows: 1, columns: 1 })).toThrow(expect.objectContaining({ code: "wrong-state" }));
    const plain = await running();
    expect(() => plain.resize({ rows: 1, columns: 1 })).toThrow(/has no terminal/);
    expect(() => plain.resize({ rows: 0, columns: 1 })).toThrow(expect.objectContaining({ code: "invalid-argument" }));
    await expect(executor().launch(script("true", { pty: { rows: 0, columns: 1 } }))).rejects.toMatchObject({ code: "invalid-argument" });
  });

  row("X39", "signals reach the program of a spawn; KILL, STOP and CONT also reach its children", async () => {
    const one = await running();
    const traps = await one.spawn(
      shell('for s in HUP INT USR1 TERM 40; do trap "echo $s" $s; done; echo ready; while :; do sleep 0.01; done'),
    );
    let text = "";
    traps.stdout!.on("data", (chunk) => {
      text += chunk;
    });
    await until(() => text.includes("ready\n"));
    for (const signal of ["SIGHUP", "int", 10, "TERM", 40]) {
      const before = text.length;
      await traps.signal(signal);
      await until(() => text.length > before);
    }
    expect(text).toBe("ready\nHUP\nINT\nUSR1\nTERM\n40\n");
    await expect(traps.signal("NOPE")).rejects.toMatchObject({ code: "invalid-argument" });

    // A daemon that has left its parent is stopped, goes on and is killed, too.
    const group = await one.spawn(shell("(setsid sh -c 'while :; do sleep 0.01; done' &); echo up; while :; do sleep 0.01; done"));
    await once(group.stdout!, "data");
    const members = () => membersOf(one, group.id);
    await until(() => members().length >= 2);
    const pid = group.pid;
    expect(members()).toContain(pid);
    expect(members()).not.toContain(traps.pid);
    await group.signal("SIGSTOP");
    await until(() => members().every((each) => stateOf(each) === "T"));
    const stopped = members();
    expect(stopped.length).toBeGreaterThan(1);
    expect(stateOf(traps.pid)).not.toBe("T");
    await group.signal("SIGCONT");
    await until(() => members().every((each) => stateOf(each) !== "T"));
    await group.signal("SIGKILL");
    expect(stopped.filter((each) => !isGone(each))).toEqual([]);
    expect(await group.wait()).toEqual({ exitCode: 137, timedOut: false });
    await expect(group.signal("TERM")).rejects.toMatchObject({ code: "wrong-state" });
    await group.kill();
    expect(isGone(traps.pid)).toBe(false);
    await traps.kill();
    expect(await others(one)).toEqual([]);
    expectNothingLeft(one);
  });

  row("X40", "an AbortSignal ends an exec with all its children, before, while and after it runs; the error says so", async () => {
    const one = await running();
    const daemon = shell("setsid sleep 881 & (setsid sleep 882 &); sleep 883");
    const reason = new Error("changed my mind");
    const expectAborted = async (promise: Promise<unknown>) => {
      const error = (await promise.catch((thrown: unknown) => thrown)) as ExecutorError;
      expect(error).toBeInstanceOf(ExecutorError);
      expect([error.code, error.cause]).toEqual(["aborted", reason]);
    };
    await expectAborted(one.exec({ ...daemon, signal: AbortSignal.abort(reason) }));
    await expectAborted(one.spawn({ ...daemon, signal: AbortSignal.abort(reason) }));
    for (const delay of [0, 1, 3, 6, 10, 200]) {
      const stop = new AbortController();
      const exec = one.exec({ ...daemon, signal: stop.signal });
      setTimeout(() => stop.abort(reason), delay);
      await expectAborted(exec);
      expect(await others(one)).toEqual([]);
    }
    const stop = new AbortController();
    const handle = await one.spawn({ ...daemon, signal: stop.signal });
    stop.abort(reason);
    await expectAborted(handle.wait());
    expect(await others(one)).toEqual([]);
    expect(isGone(handle.pid)).toBe(true);
    // Afterwards it changes nothing, and nothing listens any more.
    const late = new AbortController();
    let listeners = 0;
    const { signal } = late;
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    Object.assign(signal, {
      addEventListener(...args: Parameters<typeof add>) {
        listeners++;
        add(...args);
      },
      removeEventListener(...args: Parameters<typeof remove>) {
        listeners--;
        remove(...args);
      },
    });
    expect(await one.exec({ ...shell("exit 2"), signal })).toMatchObject({ exitCode: 2 });
    expect(listeners).toBe(0);
    late.abort();
    // The deadline is told from it.
    expect(await one.exec({ ...daemon, deadlineMs: 100, signal: new AbortController().signal })).toMatchObject({ timedOut: true });
    expect((await one.spawn({ ...daemon, deadlineMs: 100 }).then((each) => each.wait())).timedOut).toBe(true);
    expectNothingLeft(one);
  });

  row("X41", "await using: a handle and an executor end when their scope ends, also by an exception", async () => {
    const one = await running();
    let pid = 0;
    const work = async () => {
      await using handle: ExecHandle = await one.spawn(shell("(setsid sleep 991 &); sleep 992"));
      pid = handle.pid;
      throw new Error("in the middle");
    };
    await expect(work()).rejects.toThrow("in the middle");
    expect([isGone(pid), await others(one)]).toEqual([true, []]);
    expectNothingLeft(one);

    // What it has left behind goes with it, too.
    {
      await using left = await one.spawn(shell("(setsid sleep 993 &); sleep 0.1"));
      expect((await left.wait()).exitCode).toBe(0);
      expect(await others(one)).toHaveLength(1);
    }
    expect(await others(one)).toEqual([]);
    expectNothingLeft(one);

    let init = 0;
    const states: string[] = [];
    {
      await using scoped = new Executor({
        stateDir,
        id: "scoped",
        atScopeEnd: { graceMs: 0 },
        onEvent: (event) => event.type === "state" && states.push(event.state),
      });
      init = (await scoped.launch(script("exec sleep 1000"))).pid;
    }
    expect([isGone(init), existsSync(join(stateDir, "scoped"))]).toEqual([true, false]);
    expect(states).toEqual(["launching", "running", "killing", "exited"]);
    {
      await using idle = new Executor({ stateDir, id: "idle" });
      expect(idle.state).toBe("idle");
      await using failed = new Executor({ stateDir, id: "failed" });
      await expect(failed.launch({ ...script("true"), cmd: "nowhere" })).rejects.toMatchObject({ code: "program-not-runnable" });
      await using over = new Executor({ stateDir, id: "over" });
      await over.launch(script("exit 0"));
      await over.wait();
    }
    expect(readdirSync(stateDir).filter((name) => ["idle", "failed", "over"].includes(name))).toEqual([]);
  });

  row("X37", "spawn: 20 at once, each with its own streams", async () => {
    const one = await running();
    const handles = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        one.spawn({ ...shell("cat; exit $N"), env: { N: String(index) }, stdio: { stdin: "pipe" } }),
      ),
    );
    const texts = handles.map((handle) => textOf(handle.stdout));
    for (const [index, { stdin }] of handles.entries()) stdin!.end(`number ${index}`);
    expect(await Promise.all(texts)).toEqual(handles.map((_, index) => `number ${index}`));
    expect(await Promise.all(handles.map(async (handle) => (await handle.wait()).exitCode))).toEqual(handles.map((_, index) => index));
    expectNothingLeft(one);
  });

  function containerCgroups(one: Executor): string[] {
    return readFileSync(`/proc/${one.process!.pid}/cgroup`, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, controllers = "", path = ""] = line.split(":");
        const mounted = controllers === "" ? "/sys/fs/cgroup" : `/sys/fs/cgroup/${controllers.replace("name=", "")}`;
        return path.endsWith(one.id) && existsSync(`${mounted}${path}`) ? [`${mounted}${path}`] : [];
      });
  }

  /** Host pids in the cgroup of an exec. */
  function membersOf(one: Executor, id: string): number[] {
    return containerCgroups(one).flatMap((path) => {
      const file = join(path, id, "cgroup.procs");
      return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).map(Number) : [];
    });
  }

  function stateOf(pid: number): string | undefined {
    try {
      return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    } catch {
      return undefined;
    }
  }
});
