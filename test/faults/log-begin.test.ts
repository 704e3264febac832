/** The first pump of a container: the monitor may be killed behind its begin, and the pump may hang before it. */
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { printed } from "../support/log-file.ts";
import { PATIENCE_MS } from "../support/patience.ts";

const BUILD = join(import.meta.dirname, "../../build");
const BEFORE_WATCH = "before watch";
/** Its first process prints only when its monitor is gone. */
const SCRIPT = "until [ -e gone ]; do sleep 0.01; done; echo late; echo error >&2; touch done";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "runt-log-"));
  mkdirSync(join(directory, "state"));
  execFileSync("mkfifo", [join(directory, "out"), join(directory, "err")]);
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

/** A line for a shell in the directory, which becomes the monitor. Without a fault its container is let end. */
function command(fault: string | undefined) {
  const path = (name: string) => join(directory, name);
  const record = ["--record", path("record"), "--record-text", '{"id":"x"', "--record-fd", path("record")];
  const words = [join(BUILD, "test/watch"), join(BUILD, "testing/runt-init"), "/bin/sh", "-c", SCRIPT, "--", "/bin/true"];
  words.push("--state", path("state"), ...record, "--log", path("log"), "--log-size", "65536", "--log-files", "3", "--", "unused");
  const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const env = { ...process.env, RUNT_FAULT_LOG: path("points"), ...(fault === undefined ? {} : { RUNT_FAULT: fault }) };
  const line = `${fault === undefined ? "touch gone; " : ""}exec ${quoted} <>/dev/null 1<>out 2<>err`;
  return ["sh", ["-c", line], { cwd: directory, env, timeout: PATIENCE_MS }] as const;
}

/** Returns what the monitor ended with. */
const run = (fault: string | undefined) => spawnSync(...command(fault)).status;

test("the pump is there before the monitor watches, and goes on without it", async () => {
  expect(run(undefined)).toBe(0);
  const points = readFileSync(join(directory, "points"), "utf8").split("\n");
  const [process, number] = points.find((line) => line.endsWith(BEFORE_WATCH))!.split(" ");
  for (const name of ["gone", "done", "log", "record", "record.log"]) rmSync(join(directory, name), { force: true });

  expect(run(`${process}:${number}:kill`)).not.toBe(0);
  execFileSync("touch", [join(directory, "gone")]);
  await expect.poll(() => existsSync(join(directory, "done")), { timeout: PATIENCE_MS }).toBe(true);
  await expect.poll(() => printed(join(directory, "log"), "stdout"), { timeout: PATIENCE_MS }).toBe("late\n");
  await expect.poll(() => printed(join(directory, "log"), "stderr"), { timeout: PATIENCE_MS }).toBe("error\n");
});

test("a pump that hangs before it has begun is not waited for without end, and the one after it writes all", async () => {
  const monitor = spawn(...command("log:1:stop"));
  const ended = new Promise((resolve) => monitor.once("exit", resolve));
  const of = (file: string) => (existsSync(file) ? readFileSync(file, "utf8") : "");
  await expect.poll(() => of(join(directory, "points")), { timeout: PATIENCE_MS / 2 }).toContain(BEFORE_WATCH);
  const [pump] = of(`/proc/${monitor.pid}/task/${monitor.pid}/children`)
    .split(" ")
    .filter((pid) => of(`/proc/${pid}/comm`) === "runt-log\n");
  expect(of(`/proc/${pump}/status`)).toMatch(/^State:\tT/m);
  process.kill(Number(pump), "SIGKILL");
  writeFileSync(join(directory, "gone"), "");
  expect(await ended).toBe(0);
  expect(printed(join(directory, "log"), "stdout")).toBe("late\n");
});
