/** The benchmarks, shortly: that they run, measure something and leave nothing. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isRoot, isRunt, SLOW } from "../support/harness.ts";
import { REPOSITORY } from "../support/programs.ts";

const LONGEST_MS = 60_000;

describe.runIf(isRoot && isRunt && existsSync("/usr/bin/crun") && existsSync(join(REPOSITORY, "build/bench/pair")))("make bench", () => {
  let directory: string;
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "runt-test-bench-"));
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  it(
    "measures verbs against a peer, and the floor, and judges them",
    () => {
      const env = { ...process.env, TMPDIR: directory };
      const file = join(directory, "report.json");
      const args = ["bench/main.ts", "--only", "state,run,floor", "--rounds", "3", "--peer", "crun", "--json", file, "--gate"];
      const output = execFileSync("node_modules/.bin/tsx", args, {
        cwd: REPOSITORY,
        env,
        encoding: "utf8",
        stdio: ["ignore", "pipe", "inherit"],
      });
      expect(output).toMatch(/^(holds|MISS ) {2}state <= 0\.(6|22) x crun: median [\d.]+, minimum [\d.]+$/m);
      const [report] = JSON.parse(readFileSync(file, "utf8")).reports;
      expect(report.timed.map(({ name }: { name: string }) => name)).toEqual(["state", "run"]);
      for (const { outcome } of report.timed) {
        expect(outcome.rounds).toBe(3);
        expect(outcome.ratio).toBeGreaterThan(0);
        expect(outcome.rssKib[0]).toBeGreaterThan(1000);
      }
      expect(report.floor.runs.length).toBeGreaterThan(1);
      for (const { times } of report.floor.runs) expect(times.ratio).toBeGreaterThan(0);
      expect(report.floor.helper.ratio).toBeGreaterThan(1);
      // It names the cgroups that are left, and fails.
      expect(readdirSync(directory).filter((name) => name.startsWith("runt-bench"))).toEqual([]);
    },
    LONGEST_MS * SLOW,
  );

  it("refuses a scenario that there is not", () => {
    expect(() =>
      execFileSync("node_modules/.bin/tsx", ["bench/main.ts", "--only", "nonesuch"], { cwd: REPOSITORY, stdio: "pipe" }),
    ).toThrow("there is no nonesuch");
  });
});
