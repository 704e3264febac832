/**
 * `plan --host FILE`: facts that were recorded on another host give, on this one, that host's plans byte for byte. (A change of plans is
 * accepted by `vitest -u`; whether that host makes the same ones is then for its own case to say: `make test-guest`.)
 */
import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { call, isRunt, isSwitchedOff, useHarness } from "../support/harness.ts";
import { factsOf, planCommand, planOf, RECORDED, recordedPlan, withRecordedBundles } from "../support/recorded-host.ts";

/** Each recorded by the case of test/guest/cases that compares them there. */
const HOSTS = ["guest-v2"];

describe.skipIf(!isRunt)("recorded hosts", () => {
  const { directory } = useHarness();

  // They were recorded in the order of the product, which has a schedule for systemd's units.
  test.skipIf(isSwitchedOff("schedule")).each(HOSTS)("%s: its plans are made here", (host) =>
    withRecordedBundles(async () => {
      for (const bundle of RECORDED) {
        const { status, stdout, stderr } = await call(directory, planCommand(bundle, factsOf(host)));
        expect({ bundle, status, stderr }).toEqual({ bundle, status: 0, stderr: "" });
        await expect(stdout).toMatchFileSnapshot(planOf(host, bundle));
      }
    }),
  );

  test.each(HOSTS)("%s is another host than the one here", async (host) => {
    const { kernel } = JSON.parse(readFileSync(factsOf(host), "utf8")) as { kernel: { release: string } };
    const recorded = recordedPlan(host, "limited");
    expect(kernel.release).not.toBe("");
    expect(recorded).toContain("memory.max = ");
    expect(recorded).not.toContain("/sys/fs/cgroup/memory/");
  });
});
