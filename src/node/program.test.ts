import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { killGroup, outputOf, type ProgramOptions, packageOf, runProgram, runProgramNow } from "./program.ts";

const LONG = { timeoutMs: 60_000 };
const shell = (script: string, more: Partial<ProgramOptions> = {}) => runProgram("sh", ["-c", script], { ...LONG, ...more });
/** Without an end, also for SIGTERM; it prints without a pause. */
const FLOOD = "trap '' TERM; echo $$; while :; do echo flood; done";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-program-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const stateOf = (pid: number) => {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "")[0];
  } catch {
    return undefined;
  }
};
const isGone = async (pid: number) => {
  while (![undefined, "Z"].includes(stateOf(pid))) await new Promise((resolve) => setTimeout(resolve, 10));
};

test("who listens gets all of an output of any length as it comes, and the end of the standard error stays", async () => {
  let length = 0;
  const heard: string[] = [];
  const listen = (bytes: Buffer) => {
    length += bytes.length;
    heard.push(bytes.toString("latin1", 0, 6));
  };
  const end = await shell("echo first; sleep 0.1; head -c 6000000 /dev/zero; echo last >&2; exit 3", { onOutput: listen });
  expect({ length, first: heard[0], code: end.exitCode, stdout: end.stdout.length, stderr: end.stderr }).toEqual({
    ...{ length: 6_000_011, first: "first\n", code: 3, stdout: 0, stderr: "last\n" },
  });
});

test("each line of an output of any length is passed on whole, and a line without an end ends the program", async () => {
  let count = 0;
  const lines: string[] = [];
  const onLine = (line: string) => {
    count++;
    if (!/^x+$/.test(line)) lines.push(line);
  };
  const end = await shell("printf 'é\n\n'; yes xxxxxxxxxxxxxxx | head -n 400000; printf 'la\n'; sleep 0.1; printf st", { onLine });
  expect({ count, lines, failure: end.failure, stdout: end.stdout.length }).toEqual({
    ...{ count: 400_004, lines: ["é", "", "la", "st"], failure: undefined, stdout: 0 },
  });
  const flood = await shell("echo first; exec cat /dev/zero", { onLine, mostOutput: 1 << 20 });
  expect([flood.failure, lines.at(-1)]).toEqual(["has printed a line of more than 1048576 bytes", "first"]);
});

test("what a program prints, and how it ends", async () => {
  const end = await shell("echo out; echo err >&2; exit 3");
  expect({ ...end, stdout: end.stdout.toString() }).toEqual({
    ...{ exitCode: 3, signal: undefined, isTimedOut: false, error: undefined, stdout: "out\n", stderr: "err\n" },
    ...{ failure: "has failed (3)", message: "sh has failed (3)" },
  });
  expect(await shell("kill -TERM $$")).toMatchObject({ exitCode: undefined, signal: "SIGTERM", message: "sh was ended by SIGTERM" });
  expect(await shell("cd")).toMatchObject({ exitCode: 0, failure: undefined, message: "" });
});

test("its input, also more than it reads; its directory, its environment, further descriptors", async () => {
  expect((await shell("pwd; cat", { input: "text" })).stdout.toString()).toBe("/\ntext");
  expect(await shell("exit 0", { input: "x".repeat(1 << 20) })).toMatchObject({ exitCode: 0 });
  expect((await shell("pwd; cat", { cwd: directory })).stdout.toString()).toBe(`${directory}\n`);
  const { stdout } = await shell("env", { env: { PATH: "/usr/bin:/bin", ONE: "1" } });
  expect(stdout.toString().match(/^\w+(?==)/gm)).toEqual(expect.not.arrayContaining(["HOME"]));
  expect(stdout.toString()).toContain("ONE=1\n");
  writeFileSync(join(directory, "file"), "of a descriptor");
  const fd = openSync(join(directory, "file"), "r");
  const end = shell("cat <&3", { descriptors: [fd] });
  closeSync(fd);
  expect((await end).stdout.toString()).toBe("of a descriptor");
});

test("one that is not there is a result, with the code of its error; so is one whose arguments are too long", async () => {
  expect(await runProgram("/no/such/program", [], LONG)).toMatchObject({ exitCode: undefined, error: { code: "ENOENT" } });
  expect(await runProgram("true", ["x".repeat(1 << 20)], LONG)).toMatchObject({ error: { code: "E2BIG" } });
  expect(runProgramNow("/no/such/program", [])).toMatchObject({ exitCode: undefined, error: { code: "ENOENT" } });
  await expect(outputOf("/no/such/program", [])).rejects.toMatchObject({ code: "ENOENT" });
});

test("an error names the program, and has what it has said, or how it has ended", async () => {
  await expect(outputOf("sh", ["-c", "echo why >&2; exit 1"])).rejects.toThrow("sh has failed: why");
  await expect(outputOf("sh", ["-c", "exit 4"])).rejects.toThrow("sh has failed (4)");
  expect(await outputOf("echo", ["text"])).toBe("text\n");
  expect(packageOf("umount")).toBe("mount");
});

describe("a program that ignores SIGTERM and prints without an end", () => {
  test("is killed with its children when its time is over, and its end is awaited", async () => {
    const { stdout, ...end } = await shell(`sleep 3600 & echo $!; ${FLOOD} >&2`, { timeoutMs: 300 });
    expect(end).toMatchObject({ isTimedOut: true, signal: "SIGKILL", message: "sh has not ended within 0.3 s" });
    expect(end.stderr.length).toBeLessThanOrEqual(16 << 10);
    await isGone(Number(stdout));
  });

  test("is killed when it has printed too much: no more is kept", async () => {
    const end = await shell(FLOOD, { mostOutput: 1000 });
    expect([end.stdout.length, end.failure]).toEqual([1000, "has printed more than 1000 bytes"]);
    expect(stateOf(Number(end.stdout.toString().split("\n")[0]))).toBeUndefined();
  });

  test("is killed when the request was cancelled, or is not started", async () => {
    expect(await shell(`${FLOOD} >&2`, { signal: AbortSignal.timeout(100) })).toMatchObject({ signal: "SIGKILL", isTimedOut: false });
    const none = await shell(`touch ${directory}/made`, { signal: AbortSignal.abort() });
    expect([none.exitCode, none.failure, execFileSync("ls", [directory]).length]).toEqual([
      undefined,
      expect.stringContaining("not started"),
      0,
    ]);
  });

  test("is killed by the call that waits, too", () => {
    expect(runProgramNow("sh", ["-c", FLOOD.replace("echo flood", ":")], 300)).toMatchObject({ isTimedOut: true, signal: "SIGKILL" });
    expect(runProgramNow("sh", ["-c", FLOOD]).failure).toContain("has printed more than");
  });
});

test("a process that has left the group and holds the pipes is not waited for", async () => {
  const begun = performance.now();
  const end = await shell("setsid sleep 30 & exit 0", { timeoutMs: 300 });
  expect(end).toMatchObject({ exitCode: 0, isTimedOut: true, failure: "has not ended within 0.3 s" });
  expect(performance.now() - begun).toBeLessThan(25_000);
});

test("one that is alone is in the group of this process, and its children are left to it", async () => {
  const groups = await shell("ps -o pgid= -p $$", { isAlone: true });
  expect(groups.stdout.toString().trim()).toBe(execFileSync("ps", ["-o", "pgid=", "-p", String(process.pid)], { encoding: "utf8" }).trim());
});

describe("the process group of a program", () => {
  const group = (script: string) => spawn("sh", ["-c", script], { detached: true, stdio: ["ignore", "pipe", "ignore"] });

  test("goes with its children, also after the program has ended", async () => {
    for (const script of ["sleep 3600 & echo $!; wait", "sleep 3600 & echo $!"]) {
      const child = group(script);
      // Either may come first.
      const ended = once(child, "exit");
      const [said] = (await once(child.stdout, "data")) as [Buffer];
      if (!script.endsWith("wait")) await ended;
      killGroup(child);
      await isGone(Number(said));
    }
  });

  test("is left alone when another program has its number by now", async () => {
    const other = group("echo; exec sleep 3600");
    await once(other.stdout, "data");
    // The program of this engine had the same pid, and was waited for.
    killGroup({ pid: other.pid!, exitCode: 0, signalCode: null });
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(stateOf(other.pid!)).toMatch(/[SR]/);
    killGroup(other);
    await once(other, "exit");
  });
});
