/** Rows X7 to X11: launching. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect } from "vitest";
import { isUnified } from "../support/cgroups.ts";
import { CGROUP_PARENT, isGone, isRoot, printed, row, sleep, statusField, textOf, until, useExecutors } from "./support.ts";

describe.skipIf(!isRoot)("executor: launch (needs root)", () => {
  const { directory, executor, ownRootfs, script, stateDir } = useExecutors();

  row("X7", "the program is looked up inside the root only, along the container's PATH; host files keep their modes", async () => {
    const root = ownRootfs();
    const outside = join(directory, "outside");
    writeFileSync(outside, "#!/bin/sh\necho escaped\n", { mode: 0o755 });
    symlinkSync(outside, join(root, "bin/absolute"));
    symlinkSync(`../../../../../../../../..${outside}`, join(root, "bin/relative"));
    for (const cmd of ["absolute", "relative", "/bin/absolute", "nowhere"]) {
      const one = executor();
      await expect(one.launch({ rootfs: root, cmd, cgroupParent: CGROUP_PARENT })).rejects.toMatchObject({
        code: "program-not-runnable",
        reason: "not-found",
        shellStatus: 127,
      });
      expect(existsSync(join(stateDir, one.id))).toBe(false);
    }
    expect((await printed(executor(), { rootfs: root, cmd: "ls", args: ["/etc"], cgroupParent: CGROUP_PARENT })).text).toContain("passwd");
    expect(
      (await printed(executor(), { rootfs: root, cmd: "mine", env: { PATH: "/opt" }, cgroupParent: CGROUP_PARENT }).catch((error) => error))
        .code,
    ).toBe("program-not-runnable");
    const plain = join(root, "bin/plain");
    writeFileSync(plain, "#!/bin/sh\n");
    chmodSync(plain, 0o644);
    await expect(executor().launch({ rootfs: root, cmd: "/bin/plain", cgroupParent: CGROUP_PARENT })).rejects.toMatchObject({
      reason: "not-executable",
      shellStatus: 126,
    });
    expect(statSync(plain).mode & 0o777).toBe(0o644);
  });

  row("X8", "stdout to a FIFO whose reader comes late does not deadlock and loses nothing", async () => {
    const fifo = join(directory, "fifo");
    execFileSync("mkfifo", [fifo]);
    for (const stdio of [{ stdin: { file: fifo } }, { stdout: { file: fifo } }])
      await expect(executor().launch(script("true", { stdio }))).rejects.toMatchObject({ code: "invalid-argument" });
    const one = executor();
    await one.launch(
      script("i=0; while [ $i -lt 20000 ]; do echo 1234567890; i=$((i+1)); done; echo end", { stdio: { stdout: { fifo } } }),
    );
    await sleep(300);
    expect(one.state).toBe("running");
    const text = execFileSync("cat", [fifo], { encoding: "utf8" });
    expect(text).toBe(`${"1234567890\n".repeat(20000)}end\n`);
    expect((await one.wait()).exitCode).toBe(0);
  });

  row("X8", "stdout: a reader that is slower than the program gets all of its output", async () => {
    const one = executor();
    await one.launch(script("seq 1 15000", { stdio: { stdout: "pipe" } }));
    let text = "";
    // More than the FIFO takes, and less than the FIFO and one stream take: else the program would never end while nothing is read.
    for await (const chunk of one.stdout!) {
      // When the program has ended, a part of its output is in the FIFO, and a part in the streams of this process.
      if (text === "") await one.wait();
      text += chunk;
    }
    expect(text).toBe(Array.from({ length: 15_000 }, (_, index) => `${index + 1}\n`).join(""));
  });

  row("X8", "stdio kinds: null, file, pipe and pty; another reader may replace the reader of a pipe", async () => {
    const file = join(directory, "file");
    const input = join(directory, "input");
    writeFileSync(input, "from a file\n");
    const one = executor();
    await one.launch(script("cat; echo error >&2", { stdio: { stdin: { file: input }, stdout: { file } } }));
    expect((await one.wait()).exitCode).toBe(0);
    expect(readFileSync(file, "utf8")).toBe("from a file\n");

    const two = executor();
    await two.launch(script("read a; echo got $a; read b; echo got $b", { stdio: { stdin: "pipe", stdout: "pipe" } }));
    two.stdin?.write("one\n");
    const first = two.stdout!;
    const seen = await new Promise((resolve) => first.once("data", resolve));
    expect(String(seen)).toBe("got one\n");
    first.destroy();
    two.stdin?.end("two\n");
    expect((await two.wait()).exitCode).toBe(0);
    // Nobody was there: the monitor has kept it.
    expect(readFileSync(join(stateDir, two.id, "record.json.stdout"), "utf8")).toBe("got two\n");

    const three = executor();
    await three.launch(
      script("test -t 0 && test -t 1 && test -t 2 && stty size; read a; echo read $a", {
        pty: { rows: 24, columns: 100 },
        stdio: { stdin: "pipe", stdout: "pipe" },
      }),
    );
    three.stdin?.write("typed\n");
    // The terminal echoes what is typed when it comes, before or after the program has told the size.
    const lines = (await textOf(three.stdout)).replaceAll("\r", "").split("\n");
    expect(lines.sort()).toEqual(["", "24 100", "read typed", "typed"]);
    expect((await three.wait()).exitCode).toBe(0);
    await expect(executor().launch(script("true", { stdio: { stdout: { fifo: file } } }))).rejects.toMatchObject({
      code: "invalid-argument",
    });
  });

  row("X8", "a user name is looked up in the container's own passwd and group files; links cannot lead outside", async () => {
    const root = ownRootfs();
    writeFileSync(join(root, "etc/real-passwd"), "root:x:0:0::/root:/bin/sh\nnobody:x:1234:1235::/nonexistent:/bin/false\n");
    execFileSync("rm", [join(root, "etc/passwd")]);
    // On the host there is no such file: the link is resolved in the root.
    symlinkSync("/etc/real-passwd", join(root, "etc/passwd"));
    writeFileSync(join(root, "etc/group"), "nogroup:x:4321:\nextra:x:77:nobody\n");
    const id = async (user: string) =>
      (
        await printed(executor(), { rootfs: root, cmd: "/bin/sh", args: ["-c", "id -u; id -g; id -G"], user, cgroupParent: CGROUP_PARENT })
      ).text
        .trim()
        .split("\n");
    expect(await id("nobody:nogroup")).toEqual(["1234", "4321", "4321"]);
    expect(await id("nobody")).toEqual(["1234", "1235", "1235 77"]);
    expect(await id("55:66")).toEqual(["55", "66", "66"]);
    const one = executor();
    await expect(one.launch({ rootfs: root, cmd: "true", user: "somebody" })).rejects.toMatchObject({ code: "user-unknown" });
    expect(existsSync(join(stateDir, one.id))).toBe(false);
  });

  row("X9", "a runtime killed at any of 10 moments of the launch leaves nothing", async () => {
    let failures = 0;
    for (let moment = 0; moment < 10; moment++) {
      const one = executor();
      const launching = one.launch(script("sleep 1000")).catch((error: Error) => error);
      const deadline = Date.now() + 2_000;
      let found: number[] = [];
      while (found.length === 0 && Date.now() < deadline && one.state === "launching") {
        await new Promise(setImmediate);
        found = launchers(one.id);
      }
      await sleep(moment * 0.7);
      // The one that waits, the one that becomes the monitor, and the intermediate: or only the first, every other time.
      for (const pid of moment % 2 ? launchers(one.id) : found.slice(0, 1)) kill(pid);
      const result = await launching;
      if (result instanceof Error) {
        failures++;
        if (one.state !== "failed") throw result;
        expect(existsSync(join(stateDir, one.id))).toBe(false);
        expect(one.state).toBe("failed");
        await expect(one.wait()).rejects.toMatchObject({ code: "wrong-state" });
      } else {
        await one.shutdown({ graceMs: 0 });
      }
      expect(existsSync(join(stateDir, "@runtime")) ? readdirSync(join(stateDir, "@runtime")) : []).toEqual([]);
      // A monitor that has told the end has only to end itself.
      await until(() => launchers(one.id).length === 0);
    }
    expect(failures).toBeGreaterThan(0);
  });

  row("X10", "the supervisor and the monitor are not in the container's cgroup, and outlive its running out of memory", async () => {
    const one = executor();
    const { pid } = await one.launch(
      script("sleep 1; dd if=/dev/zero of=/dev/null bs=64M count=1", { resources: { memoryBytes: 16 << 20 } }),
    );
    const monitor = JSON.parse(readFileSync(join(stateDir, one.id, "record.json"), "utf8")).monitor.pid as number;
    for (const path of containerDirectories(one.id)) {
      const pids = readFileSync(join(path, "cgroup.procs"), "utf8").trim().split("\n");
      expect(pids).toContain(String(pid));
      expect(pids).not.toContain(String(process.pid));
      expect(pids).not.toContain(String(monitor));
    }
    // Of less than a megabyte, in a session of its own.
    expect(Number.parseInt(statusField(monitor, "VmRSS"), 10)).toBeLessThan(1024);
    expect(
      readFileSync(`/proc/${monitor}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ")[3],
    ).toBe(String(monitor));
    const end = await one.wait();
    expect(end.oomKills).toBeGreaterThan(0);
    expect(end.unknown).toBe(false);
    await until(() => isGone(monitor));
  });

  row("X11", "the process state has the pid, its start ticks and no exit code while it runs", async () => {
    const one = executor();
    const before = Date.now();
    const state = await one.launch(script("sleep 1000"));
    const fields = readFileSync(`/proc/${state.pid}/stat`, "utf8")
      .replace(/^.*\) /s, "")
      .split(" ");
    expect(state.startTicks).toBe(fields[19]);
    expect(state).toMatchObject({ exitCode: null, signal: null, unknown: false, endedMs: null });
    expect(state.startedMs).toBeGreaterThanOrEqual(before - 5);
    expect(state.startedMs).toBeLessThanOrEqual(Date.now());
  });
});

/** Processes of `runt` that launch this executor. */
function launchers(id: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(`/${id}/record.json`) && !isGone(pid);
      } catch {
        return false;
      }
    });
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {}
}

function containerDirectories(id: string): string[] {
  const hierarchies = isUnified ? [""] : readdirSync("/sys/fs/cgroup");
  return hierarchies.map((name) => join("/sys/fs/cgroup", name, CGROUP_PARENT, id)).filter((path) => existsSync(path));
}
