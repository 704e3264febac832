/** A log pump that is killed at each of its first points, and at each kind of point: the next one ends what it has begun, and nothing is lost or there twice. */
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { logFiles, printed } from "../support/log-file.ts";

const BUILD = join(import.meta.dirname, "../../build");
const FIRST = 40;
const MOST_TRIES = 40;
const KINDS = [
  "after log-commit",
  "after log-pwrite",
  "after log-read",
  "after log-rename",
  "after log-splice",
  "before log-begin",
  "before log-commit",
];
/** With rotations, and a line without an end. In large writes: of single lines the first rotation would be thousands of points away. */
const SCRIPT = "cat lines; echo error >&2; printf end";
const LINES = Array.from({ length: 1500 }, (_, index) => `${index} aaaaaaaaaaaaaaaaaaaaaaaaaaaa\n`).join("");
const EXPECTED = `${LINES}end`;

describe("log pump", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-log-"));
    mkdirSync(join(directory, "state"));
    writeFileSync(join(directory, "lines"), LINES);
    execFileSync("mkfifo", [join(directory, "out"), join(directory, "err")]);
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  /** Points that a pump has passed, in order. */
  function run(fault: string): readonly string[] {
    for (const name of readdirSync(directory)) if (!["state", "out", "err", "lines"].includes(name)) rmSync(join(directory, name));
    const path = (name: string) => join(directory, name);
    const record = ["--record", path("record"), "--record-text", '{"id":"x"', "--record-fd", path("record")];
    const helper = join(BUILD, "testing/runt-init");
    const words = [join(BUILD, "test/watch"), helper, "/bin/sh", "-c", SCRIPT, "--", "/bin/true", "--state", path("state"), ...record];
    words.push("--log", path("log"), "--log-size", "65536", "--log-files", "3", "--", "unused");
    const quoted = words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
    const env = { ...process.env, RUNT_FAULT_LOG: path("points"), ...(fault === "" ? {} : { RUNT_FAULT: fault }) };
    const { status, stderr } = spawnSync("sh", ["-c", `exec ${quoted} <>/dev/null 1<>out 2<>err`], {
      cwd: directory,
      env,
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(status, stderr).toBe(0);
    return existsSync(path("points"))
      ? readFileSync(path("points"), "utf8")
          .split("\n")
          .filter((line) => line.startsWith("log"))
      : [];
  }

  /** Killed at that point, the pump's output is whole; says at which kind of point that was, or "" if the pump ended before it. */
  function killAt(number: number): string {
    const points = run(`log:${number}:kill`);
    const last = points.findLast((line) => line.startsWith("log ")) ?? "";
    expect(printed(join(directory, "log"), "stdout") === EXPECTED, last).toBe(true);
    expect(printed(join(directory, "log"), "stderr"), last).toBe("error\n");
    for (const file of logFiles(join(directory, "log"))) expect(statSync(file).size).toBeLessThanOrEqual(65_536);
    return points.some((line) => line.startsWith("log-again ")) ? last.replace(/^log \d+ /, "") : "";
  }

  /** How many lines one read brings is up to the scheduler, and with it the number of a rare point: it is looked up in a run before. */
  function numberOf(kind: string): number {
    const point = run("").find((line) => line.startsWith("log ") && line.endsWith(kind));
    return Number(point?.split(" ")[1] ?? 1);
  }

  test("each of its first points, and each kind", () => {
    const killed = new Set<string>();
    for (let number = 1; number <= FIRST; number++) killed.add(killAt(number));
    for (const kind of KINDS) for (let tries = 0; !killed.has(kind) && tries < MOST_TRIES; tries++) killed.add(killAt(numberOf(kind)));
    killed.delete("");
    expect([...killed].sort()).toEqual(KINDS);
  });
});
