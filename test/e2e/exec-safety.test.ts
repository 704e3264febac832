/** exec into a hostile container, its descriptors, and its terminals. */
import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { Config } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { hostMounts } from "../support/host-mounts.ts";
import { program } from "../support/programs.ts";

describe.skipIf(!isRoot)("exec, descriptors and terminals (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime, until } = useHarness();
  let receiver: ChildProcess | undefined;
  const fds: number[] = [];

  afterEach(() => {
    receiver?.kill("SIGKILL");
    receiver = undefined;
    for (const fd of fds.splice(0)) closeSync(fd);
  });

  async function running(change: (config: Config) => void = () => {}): Promise<string> {
    const name = id();
    const path = bundle((config) => {
      shell(config, "exec sleep 1000");
      change(config);
    });
    await ok(["run", "-d", "-b", path, name]);
    await until(name, "running");
    return name;
  }

  function openFiles(count: number): number[] {
    for (let index = 0; index < count; index++) {
      const path = join(directory, `file-${index}`);
      writeFileSync(path, `content ${index}\n`);
      fds.push(openSync(path, "r"));
    }
    return fds.slice(-count);
  }

  test("the program has stdio and nothing else, whatever the caller had open", async () => {
    const output = await ok(["exec", await running(), "/probe"], { extra: openFiles(3) });
    expect(output.split("\n").flatMap((line) => /^fd \d+/.exec(line) ?? [])).toEqual(["fd 0", "fd 1", "fd 2"]);
  });

  test("--preserve-fds hands descriptors over, and a process document may come through one of the others", async () => {
    const name = await running();
    expect(
      await ok(["exec", "--preserve-fds", "2", name, "sh", "-c", "cat <&3; cat <&4; [ ! -e /proc/self/fd/5 ] && echo no more"], {
        extra: openFiles(3),
      }),
    ).toBe("content 0\ncontent 1\nno more\n");
    const [file = -1] = openFiles(1);
    writeFileSync(join(directory, "file-0"), JSON.stringify({ args: ["/bin/echo", "from a descriptor"], cwd: "/" }));
    expect(await ok(["exec", "-p", "/dev/fd/3", name], { extra: [file] })).toBe("from a descriptor\n");
  });

  test("no working directory leads out by a descriptor (CVE-2024-21626)", async () => {
    const name = await running();
    const inside = await ok(["exec", name, "ls", "-i", "/"]);
    for (let fd = 3; fd < 20; fd++) {
      await ok(["exec", name, "ln", "-sfn", `/proc/self/fd/${fd}`, "/dev/way-out"]);
      for (const cwd of [`/proc/self/fd/${fd}`, "/dev/way-out"]) {
        const { status, stdout } = await runtime(["exec", "--cwd", cwd, name, "ls", "-i", ".."]);
        // A descriptor of the container's own root leads nowhere else.
        expect(status === 0 ? stdout : `status ${status}`).toBe(status === 0 ? inside : "status 255");
      }
    }
  });

  test("the joining process cannot be looked into (CVE-2016-9962)", async () => {
    const name = await running();
    const spy =
      "while :; do for p in /proc/[0-9]*; do case $p in /proc/1|/proc/$$) continue;; esac; " +
      "x=$(readlink $p/exe) || continue; case $x in *runt-init*|/memfd*) echo exe $x; ls -l $p/fd $p/cwd;; esac; done; done";
    const out = join(directory, "spy");
    writeFileSync(out, "");
    const file = openSync(out, "a");
    const watcher = spawn(RUNTIME, ["--root", root, "exec", name, "sh", "-c", spy], { stdio: ["ignore", file, "ignore"] });
    for (let round = 0; round < 25; round++) await ok(["exec", name, "true"]);
    watcher.kill("SIGKILL");
    closeSync(file);
    await ok(["delete", "--force", name]);
    expect(readFileSync(out, "utf8")).toBe("");
  });

  test("the console socket receives the terminal of a detached exec", async () => {
    const name = await running();
    const socket = join(directory, "exec.sock");
    const out = openSync(join(directory, "received"), "w+");
    fds.push(out);
    receiver = spawn(program("receive-console"), [socket], { stdio: ["ignore", out, "inherit"] });
    const received = () => readFileSync(join(directory, "received"), "utf8");
    await expect.poll(received).toContain("listening");
    await ok([
      "exec",
      "--tty",
      "--detach",
      "--console-socket",
      socket,
      name,
      "sh",
      "-c",
      "tty; stty -a | head -1; ls -l /dev/console | cut -c1",
    ]);
    await expect.poll(received).toMatch(/fds=1 payload=\/dev\/(pts\/\d+|ptmx) terminal=yes more=no/);
    await expect.poll(received).toMatch(/\/dev\/pts\/\d+\r\n/);
  });

  test.each([
    [["-t", "-d"], "cannot allocate tty if runt will detach without setting console socket"],
    [["-d", "--console-socket", "/nowhere"], "cannot use console socket if runt will not detach or allocate tty"],
    [["-t", "--console-socket", "/nowhere"], "cannot use console socket if runt will not detach or allocate tty"],
  ])("%j is refused", async (flags, message) => {
    const result = await runtime(["exec", ...flags, await running(), "true"]);
    expect(result).toMatchObject({ status: 255, stderr: expect.stringContaining(message) });
  });

  test("a terminal in the foreground has the caller's size and passes input and status", async () => {
    const name = await running();
    const file = join(directory, "terminal.json");
    writeFileSync(file, JSON.stringify({ terminal: true, args: ["/bin/sh", "-c", "stty size; exit 6"], cwd: "/", env: ["PATH=/bin"] }));
    const script = (command: string, input = "") =>
      call(directory, ["script", "-qec", `stty rows 31 cols 77; ${RUNTIME} --root ${root} exec ${command}`, "/dev/null"], { input });
    const own = await script(`-t ${name} sh -c 'tty; stty size; read x; echo "<$x>"; exit 5'`, "typed\n");
    // Where the echo of what is typed stands depends on the moment.
    for (const line of [/\/dev\/pts\/\d+\r\n/, /31 77\r\n/, /<typed>\r\n$/]) expect(own.stdout).toMatch(line);
    expect(own.status).toBe(5);
    expect(await script(`--process ${file} ${name}`)).toMatchObject({ status: 6, stdout: expect.stringContaining("31 77\r\n") });
  });

  test.skipIf(!isRunt)("a program killed between setup and end leaves nothing of the runtime behind", async () => {
    const name = await running();
    const before = hostMounts(directory);
    for (let round = 0; round < 5; round++) {
      await runtime(["exec", name, "sleep", "1000"], { started: (child) => setTimeout(() => child.kill("SIGKILL"), 3 * round) });
    }
    await ok(["delete", "--force", name]);
    expect(hostMounts(directory)).toEqual(before);
  });
});
