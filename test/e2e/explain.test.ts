/** explain: every code, out of the executable alone. */
import { describe, expect, test } from "vitest";
import { CHAPTERS } from "../../src/runtime/check/catalogue/index.ts";
import { CATALOGUE } from "../../src/runtime/errors/catalogue.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

const FINDINGS = CHAPTERS.flatMap(([, entries]) => Object.entries(entries));

describe.skipIf(!isRoot || !isRunt)("explain", () => {
  const { directory } = useHarness();
  const explain = (...args: string[]) => call(directory, [RUNTIME, "explain", ...args], { cwd: "/" });

  test("lists every code", async () => {
    const { status, stdout } = await explain();
    expect(status).toBe(0);
    const listed = new Set(stdout.split("\n").map((line) => line.trim().split(" ", 1)[0]));
    expect([...FINDINGS.map(([code]) => code), ...Object.keys(CATALOGUE)].filter((code) => !listed.has(code))).toEqual([]);
  });

  test("a finding has its reason, remedy, source and example", async () => {
    const [, entry] = FINDINGS.find(([code]) => code === "mount-kind")!;
    const { stdout } = await explain("mount-kind");
    expect(stdout).toContain(`error mount-kind: ${entry.title}`);
    for (const text of [entry.why, `fix: ${entry.fix}`, `source: ${entry.section}`, "# found in", "# not in"])
      expect(stdout).toContain(text);
  });

  test("an error has its meaning, exit status and the causes of its messages", async () => {
    const { stdout } = await explain("unknown-command");
    expect(stdout).toContain(`${CATALOGUE["unknown-command"].meaning} (exit status 3)`);
    expect((await explain("wrong-status")).stdout).toMatch(/container not running\n +cause: .+\n +fix: runt state ID/);
  });

  test("every code is explained", async () => {
    for (const code of [...FINDINGS.map(([name]) => name).filter((_, index) => index % 10 === 0), ...Object.keys(CATALOGUE)]) {
      const { status, stdout } = await explain(code);
      expect({ code, status }).toEqual({ code, status: 0 });
      expect(stdout).toContain(code);
    }
  });

  test("an unknown one is told with its neighbours", async () => {
    expect(await explain("mount-kin")).toMatchObject({
      status: 1,
      stderr: 'runt: there is no code "mount-kin" (did you mean mount-kind?)\n',
    });
  });
});
