/** console.open and console.connect: where the terminal's two sides end up. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MESSAGES, type OpArgs, SLOT } from "../../src/shared/protocol/index.ts";
import { makeRootfs, type Outcome, runPlan } from "../support/helper.ts";
import { init, intermediate } from "../support/pack.ts";
import { container, DEV, DEVPTS, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const ENOENT = 2;

describe.skipIf(!isRoot).each(VARIANTS)("console: %s", (_, options) => {
  let root: string;
  let directory: string;
  beforeEach(() => {
    root = makeRootfs();
    directory = mkdtempSync(join(tmpdir(), "runt-console-"));
  });
  afterEach(() => {
    rmSync(root, { recursive: true, force: true });
    rmSync(directory, { recursive: true, force: true });
  });

  function run(script: string, args: Partial<OpArgs<"console.open">>, socket?: string): Outcome {
    const plan = container({
      root,
      intermediate: socket === undefined ? [] : [intermediate("console.connect", { path: socket })],
      mounts: [PROC, DEV, DEVPTS, init("console.open", { rows: 33, columns: 77, uid: 12, bindConsole: true, ...args })],
      script,
    });
    return runPlan(plan, { ...options, driver: socket === undefined ? [] : ["--console", socket] });
  }
  const SCRIPT =
    "tty; stty size 2>/dev/null || busybox stty size; stat -c '%a %u %t:%T' /dev/pts/0 /dev/console; echo to-console >/dev/console; ls /proc/$$/fd; cut -d' ' -f7 /proc/self/stat 2>/dev/null; true";

  test("the master goes to the runtime as a message; the slave is stdio, controlling terminal and /dev/console", () => {
    const { error, reports, stdout } = run(SCRIPT, {});
    expect(error).toBeUndefined();
    expect(reports.find(({ type }) => type === MESSAGES.console)).toMatchObject({ text: "/dev/pts/0" });
    const lines = stdout.split("\n");
    expect(lines.slice(0, 4)).toEqual(["/dev/pts/0", "33 77", "620 12 88:0", "620 12 88:0"]);
    expect(lines[4]).toBe("to-console");
    expect(lines.slice(5).join(" ").trim().split(/\s+/).slice(0, 3)).toEqual(["0", "1", "2"]);
  });

  test("the master goes to a console socket at a path longer than sun_path: one message, one descriptor", () => {
    const deep = join(directory, "d".repeat(100), "e".repeat(100));
    mkdirSync(deep, { recursive: true });
    const { error, reports, stdout } = run("tty; ls /dev", { slot: SLOT.CONSOLE, bindConsole: false }, join(deep, "socket"));
    expect(error).toBeUndefined();
    expect(reports.find(({ type }) => type === "console-socket")).toMatchObject({ text: "/dev/pts/0", fds: 1, rest: 0 });
    expect(stdout).toBe("/dev/pts/0\r\npts\r\n");
  });

  test("a console socket that is not there", () => {
    const plan = container({ root, intermediate: [intermediate("console.connect", { path: join(directory, "none") })] });
    expect(runPlan(plan, options).error).toMatchObject({ errno: ENOENT, path: join(directory, "none"), text: "console socket" });
  });
});
