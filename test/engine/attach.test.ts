/** The streams of a container that runs, for clients that come and go. What the container has is seen in /proc. */
import { spawn } from "node:child_process";
import { existsSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { RUNTCTL } from "./client-programs.ts";
import { http, identityOf, isRoot, until, useEngine } from "./support.ts";
import { SLEEP, taskText } from "./tasks.ts";

/** Says each line that it reads, and ends with the number behind "end". */
const ECHO =
  'echo begun; while read -r word rest; do [ "$word" = end ] && exit $rest; echo got $word; echo err $word >&2; done; echo at-the-end';

describe.skipIf(!isRoot)("attach (needs root)", () => {
  const scene = useEngine();
  const running = async (script: string, fields: Readonly<Record<string, unknown>>) => {
    const text = taskText(scene.rootfs(), "t", [{ name: "a", script, fields }]);
    expect((await http(scene.socket, "POST", "/v1/apply", { text })).text).toContain("created");
    await until(() => scene.list().some(({ status }) => status === "running"));
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).known === "RUNNING");
    return scene.list()[0]!.pid;
  };
  const client = (words: readonly string[]) => {
    const child = spawn(words[0]!, words.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
    const seen = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].on("data", (chunk) => {
        seen[name] += chunk;
      });
    }
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return { child, seen, ended, type: (text: string) => child.stdin.write(text) };
  };
  const attach = (...args: string[]) => client([...RUNTCTL, "-s", scene.socket, "attach", ...args]);
  /** Until the client is there: what it types is answered. */
  const isThere = async ({ seen, type }: ReturnType<typeof client>) => {
    type("hello\n");
    await until(() => seen.stdout.includes("got hello\n"));
  };

  test("streams apart, stdin, and the exit status; one that is killed is not noticed, and the next one goes on, also with another daemon", async () => {
    const daemon = await scene.daemon();
    const pid = await running(ECHO, { stdin: true });
    const before = identityOf(pid);
    const first = attach("-i", "t");
    await isThere(first);
    await until(() => first.seen.stderr === "err hello\n");
    // What was printed before it came is in the log.
    expect(first.seen.stdout).toBe("got hello\n");
    first.child.kill("SIGKILL");
    await first.ended;
    const second = attach("-i", "t");
    await isThere(second);
    // The end of what is typed is not its end either.
    second.child.stdin.end();
    await daemon.kill();
    expect(await second.ended).toBe(1);
    expect(second.seen.stderr).toContain("the daemon has gone away; the container goes on");
    await scene.daemon();
    expect(identityOf(pid)).toBe(before);
    const [third, watcher] = [attach("-i", "t"), attach("t")];
    await isThere(third);
    await until(() => {
      if (watcher.seen.stdout !== "") return true;
      third.type("again\n");
      return false;
    });
    third.type("end 7\n");
    expect([await third.ended, await watcher.ended]).toEqual([7, 7]);
    expect((await scene.ctl("logs", "t")).stdout).toMatch(/^begun\ngot hello\ngot hello\ngot hello\n/);
  });

  test("with stdin: once the end of the first client's input is that of the container, and so is its death; the next one is told", async () => {
    await scene.daemon();
    await running(ECHO, { stdin: "once" });
    const first = attach("-i", "t");
    await isThere(first);
    first.child.stdin.end("last\n");
    expect(await first.ended).toBe(0);
    expect(first.seen.stdout).toBe("got hello\ngot last\nat-the-end\n");
    await http(scene.socket, "POST", "/v1/delete", { names: ["t"] });
    await until(async () => (await http(scene.socket, "GET", "/v1/tasks/t")).status === 404);
    await running(`${ECHO}; ${SLEEP}`, { stdin: "once" });
    const killed = attach("-i", "t");
    await isThere(killed);
    killed.child.kill("SIGKILL");
    await until(async () => (await scene.ctl("logs", "t")).stdout.endsWith("at-the-end\n"));
    const late = await scene.ctl("attach", "-i", "t");
    expect(late).toMatchObject({ status: 126, stderr: expect.stringContaining("standard input of the container has ended") });
    await scene.ctl("delete", "t");
  });

  test("a terminal: its size, each key, ^P ^Q leaves it and the container goes on; it is the same process afterwards", async () => {
    await scene.daemon();
    const pid = await running('while read -r line; do [ "$line" = end ] && exit 4; stty size; echo got $line; done', { tty: true });
    expect(readlinkSync(`/proc/${pid}/fd/0`)).toMatch(/^\/dev\/pts\/\d+$/);
    const ctl = `${RUNTCTL.join(" ")} -s ${scene.socket} attach -i t`;
    const session = (size: string) =>
      client(["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", "sh", "-c", `stty ${size}; ${ctl}; echo status $?`]);
    const answers = async ({ seen, type }: ReturnType<typeof client>, word: string) => {
      await until(() => {
        type(`${word}\n`);
        return seen.stdout.includes(`got ${word}\r\n`);
      });
    };
    const one = session("rows 33 cols 99");
    await answers(one, "one");
    expect(one.seen.stdout).toMatch(/33 99\r\n/);
    one.type("\x10\x11");
    expect(await one.ended).toBe(0);
    expect(one.seen.stdout).toContain("status 0");
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    const other = session("rows 20 cols 70");
    await answers(other, "other");
    await until(() => /20 70\r\n/.test(other.seen.stdout));
    other.type("end\n");
    await other.ended;
    expect(other.seen.stdout).toContain("status 4");
  });

  test("what has no stdin, does not run or is not there is told; nothing is attached on the socket for reading", async () => {
    await scene.daemon();
    const pid = await running(SLEEP, {});
    expect(readlinkSync(`/proc/${pid}/fd/0`)).toBe("/dev/null");
    expect(await scene.ctl("attach", "-i", "t")).toMatchObject({ status: 1, stderr: expect.stringContaining("neither stdin nor tty") });
    expect((await scene.ctl("attach", "t", "-c", "nobody")).stderr).toContain("no container nobody");
    expect((await scene.ctl("attach", "nothing")).status).toBe(1);
    const read = await http(join(scene.directory, "run/read.sock"), "GET", "/v1/tasks/t/attach");
    expect(read.status).toBeGreaterThanOrEqual(400);
    expect((await http(scene.socket, "GET", "/v1/tasks/t/attach")).text).toContain("upgrade");
    const watcher = attach("t");
    await until(() => existsSync(`/proc/${watcher.child.pid}`));
    expect((await scene.ctl("stop", "t")).status).toBe(0);
    await until(async () => JSON.parse((await http(scene.socket, "GET", "/v1/tasks/t")).text).known === "STOPPED");
    await watcher.ended;
    expect((await scene.ctl("attach", "t")).stderr).toContain("is STOPPED");
  });
});
