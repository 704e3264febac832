/** --log and --log-format: exactly one line on failure, nothing on success, the same words on stderr. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot)("the log (needs root)", () => {
  const { bundle, directory, id, runtime } = useHarness();
  const failing = () => bundle((config) => Object.assign(config.process, { args: ["absent-program"] }));
  const content = (path: string) => (existsSync(path) ? readFileSync(path, "utf8") : "");

  test("--log-format json is one JSON value with level, msg and time", async () => {
    const log = join(directory, "log.json");
    const result = await runtime(["--log", log, "--log-format", "json", "create", "-b", failing(), id()]);
    expect(result.status).toBe(1);
    const text = content(log).trimEnd();
    const last = JSON.parse(text.split("\n").at(-1) ?? "");
    expect(last.level).toBe("error");
    expect(last.msg).toContain("executable file not found in $PATH");
    expect(Number.isNaN(Date.parse(last.time))).toBe(false);
    expect(result.stderr).toContain("executable file not found in $PATH");
    if (isRunt) {
      expect(text.split("\n")).toHaveLength(1);
      expect(Object.keys(last)).toEqual(["level", "msg", "time", "code", "pointer"]);
      expect(last).toMatchObject({ code: "operation", pointer: "/process/args/0" });
    }
  });

  test("the text format has the same words", async () => {
    const log = join(directory, "log.txt");
    await runtime(["--log", log, "create", "-b", failing(), id()]);
    expect(content(log)).toMatch(/level=error msg=".*executable file not found in \$PATH/);
  });

  test("success is silent", async () => {
    const log = join(directory, "quiet.json");
    const result = await runtime(["--log", log, "--log-format=json", "run", "-b", bundle((config) => shell(config, "true")), id()]);
    expect(result).toEqual({ status: 0, stdout: "", stderr: "" });
    expect(content(log)).toBe("");
  });

  test("a log that cannot be opened is an error", async () => {
    const result = await runtime(["--log", join(directory, "absent/log"), "list"]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("absent/log");
  });
});
