/** A caller that allows next to no stack: every verb works, the program gets that limit, and a deep document is an error. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call } from "../support/call.ts";
import { hasControllers } from "../support/cgroups.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

/** KiB. A shell and a dynamic loader need more than 8. */
const LIMITS = [16, 24, 64, 256, 1024] as const;

describe.skipIf(!isRoot || !isRunt)("a small stack (needs root)", () => {
  const { bundle, directory, id, root } = useHarness();
  /** Without randomness and environment, of which the kernel puts up to 8 KiB on the stack before the first instruction. */
  const below = (limit: number, ...args: readonly string[]) =>
    call(directory, [
      ...["setarch", "-R", "env", "-i", "/bin/sh", "-c", `ulimit -s ${limit}; exec "$@"`, "sh"],
      ...[RUNTIME, "--root", root, ...args],
    ]);

  test("8 KiB", async () => {
    const path = bundle((config) => {
      config.process.args = ["/bin/sleep", "60"];
    });
    const name = id();
    const done = { status: 0, stderr: "" };
    expect(await below(8, "--version")).toMatchObject(done);
    expect((await below(8, "state", "absent")).stderr).toContain("does not exist");
    expect(await below(8, "create", "-b", path, name)).toMatchObject(done);
    expect(await below(8, "state", name)).toMatchObject(done);
    expect(await below(8, "list")).toMatchObject(done);
    expect(await below(8, "delete", "--force", name)).toMatchObject(done);
  });

  test.skipIf(!hasControllers).each(LIMITS)("%d KiB", async (limit) => {
    const path = bundle((config) => shell(config, "ulimit -s; ulimit -H -s; exec sleep 60"));
    const name = id();
    const record = join(directory, name);
    const done = { status: 0, stderr: "", stdout: "" };
    expect(await below(limit, "--version")).toMatchObject({ status: 0, stderr: "" });
    expect(await below(limit, "create", "--pid-file", record, "-b", path, name)).toMatchObject(done);
    expect(readFileSync(`/proc/${readFileSync(record, "utf8")}/limits`, "utf8")).toMatch(
      new RegExp(`^Max stack size +${limit * 1024} +${limit * 1024} `, "m"),
    );
    expect(await below(limit, "state", name)).toMatchObject({ status: 0, stderr: "" });
    expect(await below(limit, "start", name)).toMatchObject({ status: 0, stderr: "" });
    expect(await below(limit, "exec", name, "/bin/sh", "-c", "ulimit -s; ulimit -H -s")).toEqual({
      ...done,
      stdout: `${limit}\n${limit}\n`,
    });
    expect(await below(limit, "exec", name, "/bin/sh", "-c", "exit 7")).toMatchObject({ status: 7 });
    expect(await below(limit, "pause", name)).toEqual(done);
    expect(await below(limit, "update", "--memory", "64M", name)).toEqual(done);
    expect(await below(limit, "resume", name)).toEqual(done);
    expect(await below(limit, "delete", "--force", name)).toEqual(done);
    const once = bundle((config) => shell(config, "ulimit -s; exit 3"));
    expect(await below(limit, "run", "-b", once, id())).toEqual({ ...done, status: 3, stdout: `${limit}\n` });
    expect(await below(limit, "run", "--config", "/absent", "-b", once, id())).toMatchObject({ status: 1 });
  });

  test("the limit of config.json", async () => {
    const path = bundle((config) => {
      config.process.rlimits = [{ type: "RLIMIT_STACK", soft: 16384, hard: 16384 }];
      shell(config, "ulimit -s");
    });
    for (const limit of LIMITS) expect((await below(limit, "run", "-b", path, id())).stdout, String(limit)).toBe("16\n");
  });

  test.each([8, ...LIMITS])("a deep document with %d KiB is an error, and no fault", async (limit) => {
    const path = bundle((config) => Object.assign(config, { deep: "DEPTH" }));
    const file = join(path, "config.json");
    const text = readFileSync(file, "utf8");
    for (const depth of [1_000, 100_000]) {
      writeFileSync(file, text.replace('"DEPTH"', "[".repeat(depth) + "]".repeat(depth)));
      for (const args of [
        ["create", "-b", path, id()],
        ["run", "-b", path, id()],
        ["validate", path],
        ["plan", "-b", path],
      ]) {
        const { status, stderr, stdout } = await below(limit, ...args);
        expect([args[0], status], stderr).toEqual([args[0], 1]);
        expect(`${stdout}${stderr}`).toContain("nested deeper than 256 levels");
      }
    }
  });
});
