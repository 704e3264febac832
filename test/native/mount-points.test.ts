/** Where mount points are made, whatever is missing of their paths and whatever was mounted before. */
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init, intermediate } from "../support/pack.ts";
import { container, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const RUNS = 25;
// Names of which one begins with another, and few of them: paths meet, and one is deeper below another's directory.
const path = fc.array(fc.constantFrom("a", "ab", "b"), { minLength: 1, maxLength: 5 }).map((names) => `/top/${names.join("/")}`);

describe.skipIf(!isRoot)("mount points", () => {
  test.each(VARIANTS)("are where each path says: %s", (_, options) => {
    const room = mkdtempSync(join(tmpdir(), "runt-mount-points-"));
    try {
      fc.assert(
        fc.property(fc.uniqueArray(path, { maxLength: 4 }), fc.array(path, { minLength: 2, maxLength: 10 }), (existing, targets) => {
          const root = makeRootfs();
          try {
            for (const directory of existing) mkdirSync(join(root, directory), { recursive: true });
            // Each mount has a directory of its own: what is made in one is not there in another.
            const sources = targets.map(() => mkdtempSync(join(room, "source-")));
            const plan = container({
              root,
              intermediate: sources.map((source, index) => intermediate("mount.open", { source, slot: 5 + index })),
              mounts: [PROC, ...targets.map((target, index) => init("mount.bind", { slot: 5 + index, target, create: 0 }))],
              script: "grep -o ' /top[^ ]*' /proc/self/mountinfo",
            });
            const { stdout, stderr, error, status } = runPlan(plan, options);
            expect({ error, stderr, status }).toEqual({ error: undefined, stderr: "", status: 0 });
            expect(stdout.trimEnd().split("\n")).toEqual(targets.map((target) => ` ${target}`));
          } finally {
            rmSync(root, { recursive: true, force: true });
          }
        }),
        { numRuns: RUNS },
      );
    } finally {
      rmSync(room, { recursive: true, force: true });
    }
  });
});
