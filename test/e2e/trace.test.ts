/** A run looks up nothing below the root file system by a host path. Seen by strace. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const STRACE = "/usr/bin/strace";

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE))(`a trace of run (needs root and ${STRACE})`, () => {
  const { bundle, directory, id, ok, root, rootfs } = useHarness();

  async function trace(name: string, path: string): Promise<string[]> {
    const output = join(directory, `${name}.strace`);
    const result = await call(directory, [STRACE, "-f", "-s", "4096", "-o", output, RUNTIME, "--root", root, "run", "-b", path, name]);
    expect(result).toEqual({ status: 0, stdout: "traced\n", stderr: "" });
    return readFileSync(output, "utf8").split("\n");
  }

  test("the root file system is entered by one descriptor and never by a path into it", async () => {
    const lines = await trace(
      id(),
      bundle((config) => shell(config, "echo traced")),
    );
    const inside = lines.filter((line) => /^\d+ +(?!write|read|sendto|recv|pread|exec)\w+\(/.test(line) && line.includes(`"${rootfs()}/`));
    expect(inside).toEqual([]);
  });

  test("every mount that is made stands in the plan", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "echo traced"));
    const plan = JSON.parse(await ok(["plan", "--format", "json", "-b", path, name])) as { ops: { op: string }[] };
    const planned = plan.ops.filter(({ op }) => op === "mount.filesystem").length;
    const lines = await trace(name, path);
    const made = lines.filter((line) => /\bfsmount\(/.test(line) && !/ = -1 /.test(line)).length;
    // One more is the empty tmpfs behind which all masked directories hide.
    expect(made).toBeLessThanOrEqual(planned + 1);
    expect(made).toBeGreaterThanOrEqual(planned);
  });
});
