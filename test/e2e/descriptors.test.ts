/** Descriptors: none leaks, those that are asked for arrive, and the terminal goes to the console socket. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { call, isRoot, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { program } from "../support/programs.ts";

describe.skipIf(!isRoot)("descriptors (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  const listing = (config: { process: { args: string[] } }) => {
    config.process.args = ["/probe"];
  };
  const descriptorsIn = (output: string) => output.split("\n").filter((line) => line.startsWith("fd "));
  let receiver: ChildProcess | undefined;
  const fds: number[] = [];

  afterEach(() => {
    receiver?.kill("SIGKILL");
    receiver = undefined;
    for (const fd of fds.splice(0)) closeSync(fd);
  });

  /** Three open files to hand over, and what they hold. */
  function openFiles(count: number): number[] {
    for (let index = 0; index < count; index++) {
      const path = join(directory, `file-${index}`);
      writeFileSync(path, `content ${index}\n`);
      fds.push(openSync(path, "r"));
    }
    return fds.slice(-count);
  }

  test("the program has stdio and nothing else, whatever the caller had open", async () => {
    const result = await runtime(["run", "-b", bundle(listing), id()], { extra: openFiles(3) });
    expect(result.status).toBe(0);
    expect(descriptorsIn(result.stdout).map((line) => line.split(":")[0])).toEqual(["fd 0", "fd 1", "fd 2"]);
  });

  test("the waiting init of create has no descriptor of a directory of the host", async () => {
    const name = id();
    const pidFile = join(directory, "pid");
    await ok(["create", "-b", bundle(listing), "--pid-file", pidFile, name], { extra: openFiles(2) });
    const pid = readFileSync(pidFile, "utf8");
    const targets = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`));
    expect(targets.filter((target) => target.includes("file-"))).toEqual([]);
    expect(targets.filter((target) => /^\/(sys\/fs\/cgroup|proc|$)/.test(target))).toEqual([]);
  });

  test("--preserve-fds hands descriptors over", async () => {
    const path = bundle((config) => shell(config, "cat <&3; cat <&4; [ ! -e /proc/self/fd/5 ] && echo no more"));
    const result = await runtime(["run", "--preserve-fds", "2", "-b", path, id()], { extra: openFiles(3) });
    expect(result.stdout).toBe("content 0\ncontent 1\nno more\n");
  });

  test.each(["run", "exec"])(
    "--preserve-fds of %s passes over closed descriptors, and nothing of runt's own takes their place",
    async (verb) => {
      const name = id();
      const [file] = openFiles(1);
      const path = bundle((config) => {
        if (verb === "run") listing(config);
        else shell(config, "sleep 1000");
      });
      if (verb === "exec") await ok(["run", "-d", "-b", path, name], { input: "" });
      const words = verb === "run" ? ["run", "--preserve-fds", "100", "-b", path, name] : ["exec", "--preserve-fds", "100", name, "/probe"];
      // 9 and 40, as `podman run --preserve-fd=9,40` has them.
      const command = `exec 9<&3 40<&3 3<&-; exec ${RUNTIME} --root ${root} ${words.join(" ")}`;
      const { status, stdout, stderr } = await call(directory, ["/bin/bash", "-c", command], { extra: [file!] });
      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      expect(descriptorsIn(stdout).map((line) => line.split(":")[0])).toEqual(["fd 0", "fd 1", "fd 2", "fd 40", "fd 9"]);
    },
  );

  test("LISTEN_FDS goes with LISTEN_PID of the runtime", async () => {
    const path = bundle((config) => shell(config, "echo $LISTEN_FDS $LISTEN_PID; cat <&3"));
    const command = `LISTEN_FDS=1 LISTEN_PID=$$ exec ${RUNTIME} --root ${root} run -b ${path} ${id()}`;
    const result = await call(directory, ["/bin/sh", "-c", command], { extra: openFiles(1) });
    expect(result).toEqual({ status: 0, stdout: "1 1\ncontent 0\n", stderr: "" });
  });

  test("LISTEN_FDS for somebody else is not passed on", async () => {
    const path = bundle((config) => shell(config, 'echo "<$LISTEN_FDS>"; [ ! -e /proc/self/fd/3 ] && echo none'));
    const result = await runtime(["run", "-b", path, id()], { extra: openFiles(1), env: { LISTEN_FDS: "1", LISTEN_PID: "1" } });
    expect(result.stdout).toBe("<>\nnone\n");
  });

  test("the console socket receives exactly one descriptor, the terminal's master", async () => {
    const name = id();
    const socket = join(directory, "console.sock");
    const output = join(directory, "console.out");
    const out = openSync(output, "w");
    receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", out, "inherit"] });
    closeSync(out);
    await expect.poll(() => readFileSync(output, "utf8")).toContain("listening");
    const path = bundle((config) => {
      shell(config, "tty; [ -t 0 ] && [ -t 1 ] && [ -t 2 ] && echo all a terminal; stat -c '%t:%T' /dev/console");
    }, "shell");
    const created = await runtime(["create", "-b", path, "--console-socket", socket, name]);
    expect(created).toEqual({ status: 0, stdout: "", stderr: "" });
    await expect.poll(() => readFileSync(output, "utf8")).toContain("fds=1");
    await ok(["start", name]);
    await until(name, "stopped");
    await expect.poll(() => readFileSync(output, "utf8")).toContain("all a terminal");
    expect(readFileSync(output, "utf8")).toMatch(
      /^listening\nfds=1 payload=\/dev\/(pts\/0|ptmx) terminal=yes more=no\r?\n\/dev\/(pts\/0|console)\r?\n/,
    );
  });

  test("a terminal for a detached container needs a console socket, and the other way round", async () => {
    const terminal = await runtime(["create", "-b", bundle(() => {}, "shell"), id()]);
    expect(terminal.status).toBe(1);
    expect(terminal.stderr).toContain("cannot allocate tty if runt will detach without setting console socket");
    const none = await runtime(["create", "--console-socket", "/nonexistent", "-b", bundle(), id()]);
    expect(none.status).toBe(1);
    expect(none.stderr).toContain("cannot use console socket if runt will not detach or allocate tty");
  });

  test("run with a terminal in the foreground copies it, and the size of the window", async () => {
    const path = bundle((config) => shell(config, 'tty; stty size; read line; echo "<$line>"'), "shell");
    const command = `stty rows 33 cols 77; ${RUNTIME} --root ${root} run -b ${path} ${id()}`;
    const result = await call(directory, ["script", "-qec", command, "/dev/null"], { input: "typed\n" });
    expect(result.status).toBe(0);
    expect(result.stdout).toContain("33 77");
    expect(result.stdout).toContain("<typed>");
  });
});
