/**
 * The plan is true: over random bundles (RUNT_TEST_BUNDLES of them, by default 20), what `strace -f` sees of `run` equals the plan in both
 * directions. An unknown call that changes something is a difference, and so is a declared one that was never made. Which outcomes of the
 * operations' tables were met is written to build/test/plan-branches.md, or to the file RUNT_TEST_BRANCHES.
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { PlannedOp } from "../support/call-pattern.ts";
import { hasControllers, withoutLimits } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, SLOW, useHarness } from "../support/harness.ts";
import { type Branches, branchesPage, comparePlan } from "../support/plan-trace.ts";
import { REPOSITORY } from "../support/programs.ts";
import { randomConfig } from "../support/random-bundles.ts";
import { parseTrace } from "../support/strace.ts";

const STRACE = "/usr/bin/strace";
const BUNDLES = Number(process.env["RUNT_TEST_BUNDLES"] ?? 20);
const BRANCHES = process.env["RUNT_TEST_BRANCHES"] ?? join(REPOSITORY, "build/test/plan-branches.md");
const FIRST = Number(process.env["RUNT_TEST_SEED"] ?? 1);
/** Long strings whole; of the structures only execve's lists, which would be left out. */
const OPTIONS = ["-f", "-X", "verbose", "-s", "8192", "-e", "abbrev=!execve", "-e", "signal=none", "--decode-pids=pidns"];

describe.skipIf(!isRoot || !isRunt || !existsSync(STRACE))(`plans and traces of run (needs root and ${STRACE})`, () => {
  const { bundle, directory, id, ok, root } = useHarness();
  const branches: Branches = new Map();
  const own = { rootfs: join(directory, "own"), directory: join(directory, "shared"), file: join(directory, "file") };

  beforeAll(() => {
    execFileSync(join(REPOSITORY, "bundles/make-rootfs.sh"), [own.rootfs], { stdio: "inherit" });
    mkdirSync(own.directory);
    writeFileSync(own.file, "content\n");
  });

  afterAll(() => {
    if (branches.size > 0) writeFileSync(BRANCHES, branchesPage(branches, BUNDLES));
  });

  async function traced(change: Parameters<typeof bundle>[0]) {
    const name = id();
    const path = bundle((config) => {
      change?.(config);
      if (!hasControllers) config.linux.resources = withoutLimits(config.linux.resources);
    });
    const { ops } = JSON.parse(await ok(["plan", "--run", "-f", "json", "-b", path, name])) as { ops: PlannedOp[] };
    const output = join(directory, "trace");
    const command = [
      "timeout",
      "-s",
      "KILL",
      String(15 * SLOW),
      STRACE,
      ...OPTIONS,
      "-o",
      output,
      RUNTIME,
      "--root",
      root,
      "run",
      "-b",
      path,
      name,
    ];
    const { status, stderr } = await call(directory, command);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return { ops, calls: parseTrace(readFileSync(output, "utf8")) };
  }

  test.each(Array.from({ length: BUNDLES }, (_, index) => FIRST + index))("bundle %i", async (seed) => {
    const { ops, calls } = await traced((config) => {
      const { cgroupsPath } = config.linux;
      for (const key of Object.keys(config)) delete config[key];
      Object.assign(config, randomConfig(seed, { ...own, cgroupsPath }));
    });
    const compared = comparePlan(ops, calls, "/bin/true");
    expect(compared.differences).toEqual([]);
    for (const [name, { taken, skipped }] of compared.branches) {
      const sum = branches.get(name) ?? { taken: 0, skipped: 0 };
      branches.set(name, { taken: sum.taken + taken, skipped: sum.skipped + skipped });
    }
  });

  test.skipIf(!hasControllers)("another plan, or another trace, is told from it", async () => {
    const { ops, calls } = await traced((config) => {
      config.process.args = ["/bin/true"];
      config.root.path = own.rootfs;
      // Device rules are no files on cgroup v2.
      config.linux.resources.pids = { limit: 100 };
    });
    const differences = (changed: readonly PlannedOp[], seen = calls) => comparePlan(changed, seen, "/bin/true").differences;
    expect(differences(ops)).toEqual([]);
    for (const name of ["hostname.set", "root.pivot", "device.create", "capability.set", "cgroup.write", "mount.filesystem"]) {
      const at = ops.findIndex(({ op }) => op === name);
      expect([name, at]).not.toEqual([name, -1]);
      expect([name, differences(ops.toSpliced(at, 1)).length]).toEqual([name, 1]);
      expect([name, differences(ops.toSpliced(at, 0, ops[at]!))]).not.toEqual([name, []]);
    }
    const other = (name: string, args: Record<string, unknown>) =>
      differences(ops.map((op) => (op.op === name ? { ...op, args: { ...op.args, ...args } } : op)));
    expect(other("hostname.set", { name: "another" })[0]).toContain("hostname.set (still wants sethostname($name, _))");
    expect(other("process.rlimit", { soft: "7" })[0]).toContain("process.rlimit");
    expect(other("capability.set", { permitted: "1" })[0]).toContain("capability.set");
    expect(other("mount.filesystem", { attrSet: "1" })[0]).toContain("mount.filesystem");
    const within = calls.findIndex(({ name }) => name === "sethostname");
    const { pid } = calls[within]!;
    const added = { pid, name: "mkdirat", args: ["3", '"x"', "0755"], result: 0, error: "", text: 'mkdirat(3, "x", 0755) = 0' };
    expect(differences(ops, calls.toSpliced(within, 0, added))[0]).toContain("mkdirat");
  });
});
