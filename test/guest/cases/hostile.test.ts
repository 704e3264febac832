/**
 * The random walk of a hostile host (test/walk/hostile), with the whole machine as witness: what is not the walk's own is the same afterwards.
 * RUNT_HOSTILE_STEPS (2000) from RUNT_HOSTILE_SEED (1).
 */
import { describe, expect, test } from "vitest";
import { SLOW, useHarness } from "../../support/harness.ts";
import { CGROUP_PARENT } from "../../support/leaks.ts";
import { changes, seeMachine } from "../../support/machine.ts";
import { DELEGATED } from "../../support/places.ts";
import { randomSteps, stepText } from "../../walk/hostile/steps.ts";
import { walkHost } from "../../walk/hostile/walk.ts";

const STEPS = Number(process.env["RUNT_HOSTILE_STEPS"] ?? 2_000);
const SEED = Number(process.env["RUNT_HOSTILE_SEED"] ?? 1);
const TOLD_EVERY = 100;
/** Milliseconds for a step, in an emulated machine. */
const STEP_MS = 3_000;
const SHOWN = 40;
/**
 * Journals, what the lanes themselves write, and a file that mount(8) makes when it is called for the first time. The lanes' watch sleeps again and again; on
 * v1 the kernel starts systemd's agent for each cgroup that has become empty.
 */
const UNWATCHED = {
  files: ["/run/results", "/run/log", "/run/systemd/journal", "/run/mount/utab"],
  commands: ["sleep 5", "systemd-cgroups-agent"],
};

/** The cgroup that systemd has handed over, and those above it: the walk makes them in hierarchies that systemd does not use. */
const HANDED_OVER = DELEGATED.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"));

/** What the walk itself, and systemd for its units, leave until the end: the parents of the tests' cgroups, and a directory. */
const EXPECTED = [
  ...[`${DELEGATED}${CGROUP_PARENT}`, ...HANDED_OVER.filter(Boolean)].map(
    (path) => new RegExp(`^\\+ cgroup /sys/fs/cgroup/?[^/]*${path} \\d+$`),
  ),
  /^\+ file \/run\/systemd\/transient 40755 0:0$/,
];

describe("a machine with a hostile host's containers", () => {
  const harness = useHarness({ peers: true });

  test(`is the same after ${STEPS} random verbs`, { timeout: STEPS * STEP_MS + 300_000 * SLOW }, async () => {
    const before = await seeMachine(UNWATCHED);
    let told = 0;
    const { done, summary, wrong } = await walkHost(
      { directory: harness.directory, rootfs: harness.rootfs(), name: "m" },
      randomSteps(SEED),
      (steps) => {
        if (steps >= told) console.log(`${steps} steps`);
        while (told <= steps) told += TOLD_EVERY;
        return steps < STEPS;
      },
    );
    console.log(`seed ${SEED}: ${done.length} steps; ${summary}`);
    expect(wrong, `seed ${SEED}: ${done.slice(-SHOWN).map(stepText).join("; ")}`).toBeUndefined();
    const changed = changes(before, await seeMachine(UNWATCHED));
    expect(changed.filter((line) => !EXPECTED.some((pattern) => pattern.test(line)))).toEqual([]);
  });
});
