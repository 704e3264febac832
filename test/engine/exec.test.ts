/** Programs in a running container, as runtctl runs them. What they are is seen in /proc. */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { RUNTCTL } from "./client-programs.ts";
import { type Answer, isRoot, until, useEngine, webTask } from "./support.ts";

describe.skipIf(!isRoot)("exec (needs root)", () => {
  const scene = useEngine();
  const running = async () => {
    const daemon = await scene.daemon();
    expect((await scene.ctl("apply", "-f", scene.file("web.yaml", webTask(scene.rootfs())))).status).toBe(0);
    // The runtime knows of a start before the daemon has recorded it.
    await until(async () => (await scene.ctl("get")).stdout.match(/ RUNNING /g)?.length === 2);
    return daemon;
  };
  const exec = (...args: string[]): Promise<Answer> => scene.ctl("exec", "web", "-c", "app", ...args);
  const start = (words: readonly string[]): ChildProcess & { text(): string; ended: Promise<number | null> } => {
    const [program = "", ...rest] = words;
    const child = spawn(program, rest, { stdio: ["pipe", "pipe", "pipe"] });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk) => {
        text += chunk;
      });
    // It may end before the test waits for it.
    const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
    return Object.assign(child, { text: () => text, ended });
  };
  const ctl = [...RUNTCTL, "-s", scene.socket];
  /** By its cgroup, which the kernel tells. */
  const isInTask = (pid: number): boolean => {
    try {
      return readFileSync(`/proc/${pid}/cgroup`, "utf8").includes(CGROUP_PARENT);
    } catch {
      return false;
    }
  };
  /** Host pids of processes of tasks with this word in their arguments. */
  const pidsOf = (word: string): number[] =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
      .filter(isInTask)
      .filter((pid) => {
        try {
          return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(word);
        } catch {
          return false;
        }
      });

  test("streams apart, environment, directory, user; the exit status is the program's", async () => {
    await running();
    expect(await exec("--", "sh", "-c", "echo out; echo err >&2; exit 7")).toEqual({ status: 7, stdout: "out\n", stderr: "err\n" });
    const told = await exec(
      "-e",
      "A=b=c",
      "-w",
      "/tmp",
      "-u",
      "12:34",
      "--",
      "sh",
      "-c",
      'echo "$A $PWD"; grep -E "^(Uid|Gid)" /proc/self/status',
    );
    expect(told.stdout.replaceAll("\t", " ")).toBe("b=c /tmp\nUid: 12 12 12 12\nGid: 34 34 34 34\n");
    expect((await exec("--", "sh", "-c", "kill -9 $$")).status).toBe(137);
    const big = start([...ctl, "exec", "web", "-c", "app", "--", "sh", "-c", "head -c 3000000 /dev/zero | tr '\\0' x"]);
    expect([await big.ended, big.text().length]).toEqual([0, 3_000_000]);
  });

  test("what cannot be run is told as a shell would: 127, 126; and what is not there by name", async () => {
    await running();
    expect(await exec("--", "no-such-program")).toMatchObject({ status: 127, stdout: "" });
    expect(await exec("--", "/etc")).toMatchObject({ status: 126, stdout: "" });
    expect((await exec("-u", "nobody-of-this-name", "--", "true")).status).toBe(126);
    const unknown = async (...args: string[]) => (await scene.ctl("exec", ...args)).stderr;
    expect(await unknown("web", "--", "true")).toMatch(/has more than one container: db, app/);
    expect(await unknown("web", "-c", "x", "--", "true")).toMatch(/has no container x: db, app/);
    expect(await unknown("nothing", "--", "true")).toMatch(/there is no task nothing/);
  });

  test("stdin goes through whole, and its end arrives", async () => {
    await running();
    const child = start([...ctl, "exec", "-i", "web", "-c", "app", "--", "sh", "-c", "wc -c"]);
    child.stdin!.end(Buffer.alloc(2_000_000, "y"));
    expect([await child.ended, child.text().trim()]).toEqual([0, "2000000"]);
  });

  test("with a terminal: it is one, of the size of the caller's, and the caller's is as it was before", async () => {
    await running();
    const script = `stty rows 33 cols 99; stty -g; ${ctl.join(" ")} exec -it web -c app -- sh; echo status $?; stty -g`;
    const child = start(["python3", "-c", "import pty, sys; pty.spawn(sys.argv[1:])", "sh", "-c", script]);
    // Typed, as a person would: the shell shows a prompt first.
    await until(() => child.text().includes("# "));
    child.stdin!.write("stty size; tty; exit 3\n");
    await child.ended;
    expect(child.text()).toMatch(/33 99\r\n\/dev\/pts\/\d+\r\n/);
    expect(child.text()).toContain("status 3");
    const [before, after] = child.text().match(/^[0-9a-f]+(?::[0-9a-f]+){20,}/gm)!;
    expect(after).toBe(before);
  });

  test("a client that is killed: the program is told to hang up, one that does not listen is killed with what it has started", async () => {
    await running();
    const polite = start([
      ...ctl,
      "exec",
      "web",
      "-c",
      "app",
      "--",
      "sh",
      "-c",
      "trap 'echo hup > /tmp/polite; exit' HUP; echo ready; while :; do sleep 0.1; done # polite-one",
    ]);
    const deaf = start([
      ...ctl,
      "exec",
      "web",
      "-c",
      "app",
      "--",
      "sh",
      "-c",
      "trap '' HUP; echo ready; sleep 1000 & while :; do sleep 0.1; done # deaf-one",
    ]);
    // The program ends at once, and what it has left keeps the output open.
    const leaving = start([...ctl, "exec", "web", "-c", "app", "--", "sh", "-c", "sleep 1002 & echo ready"]);
    await until(() => [polite, deaf, leaving].every((one) => one.text().includes("ready")));
    expect([pidsOf("polite-one").length > 0, pidsOf("deaf-one").length > 0]).toEqual([true, true]);
    for (const one of [polite, deaf, leaving]) one.kill("SIGKILL");
    await until(() => existsSync(join(scene.rootfs(), "tmp/polite")) || pidsOf("polite-one").length === 0);
    expect(pidsOf("deaf-one").length).toBeGreaterThan(0);
    await until(() => ["deaf-one", "sleep\u00001000", "sleep\u00001002"].every((word) => pidsOf(word).length === 0), 30_000);
    // Its containers are not concerned.
    expect(scene.list().map(({ status }) => status)).toEqual(["running", "running"]);
  });

  test("SIGTERM of the client reaches the program; when the daemon is killed the client says so", async () => {
    const daemon = await running();
    const child = start([
      ...ctl,
      "exec",
      "web",
      "-c",
      "app",
      "--",
      "sh",
      "-c",
      "trap 'exit 5' TERM; echo ready; while :; do sleep 0.1; done",
    ]);
    await until(() => child.text().includes("ready"));
    child.kill("SIGTERM");
    expect(await child.ended).toBe(5);
    const other = start([...ctl, "exec", "web", "-c", "app", "--", "sh", "-c", "echo ready; sleep 1001"]);
    await until(() => other.text().includes("ready"));
    await daemon.kill();
    expect(await other.ended).toBe(1);
    expect(other.text()).toContain("the daemon has gone away");
  });

  test("port-forward: a port on the loopback of a task, from a port of this host; both directions at once, to the end of each; nobody there is told", async () => {
    await scene.daemon();
    const script = "nc -ll -p 7 -e cat & echo up; exec sleep 1000";
    const container = { name: "app", rootfs: scene.rootfs(), command: "/bin/sh", args: ["-c", script], stopSignal: "SIGKILL" };
    expect(
      (await scene.ctl("apply", "-f", scene.file("echo.json", JSON.stringify({ name: "echo", containers: [container] })))).status,
    ).toBe(0);
    await until(async () => (await scene.ctl("logs", "echo")).stdout === "up\n");
    const forward = start([...ctl, "port-forward", "echo", ":7", ":9"]);
    await until(() => (forward.text().match(/->/g) ?? []).length === 2);
    const port = (remote: number) => Number(new RegExp(`127\\.0\\.0\\.1:(\\d+) -> ${remote}\n`).exec(forward.text())![1]);
    const sent = Buffer.alloc(8 << 20, "0123456789abcde\n");
    const socket = connect({ host: "127.0.0.1", port: port(7), allowHalfOpen: true });
    const chunks: Buffer[] = [];
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.end(sent);
    await new Promise((resolve) => socket.on("error", () => {}).once("close", resolve));
    expect(Buffer.concat(chunks).equals(sent)).toBe(true);
    const nobody = connect({ host: "127.0.0.1", port: port(9) });
    nobody.on("error", () => {});
    await new Promise((resolve) => nobody.once("close", resolve));
    await until(() => forward.text().includes("port 9: "));
    expect(forward.text()).toMatch(/port 9: .*connect to 127\.0\.0\.1: Connection refused/);
    forward.kill("SIGTERM");
    expect(await forward.ended).toBe(0);
    expect((await scene.ctl("port-forward", "echo", "99999")).status).toBe(2);
    expect((await scene.ctl("port-forward", "nobody", "80")).stderr).toContain("there is no task nobody");
  });
});
