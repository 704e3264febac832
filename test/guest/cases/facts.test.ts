/**
 * The facts of this guest and the plans it makes of some bundles are what test/fixtures/hosts has recorded of it. With RUNT_RECORD=DIR they
 * are written there instead of compared (--run of test/guest/main.ts).
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { describe, expect, test } from "vitest";
import { isUnified } from "../../support/cgroups.ts";
import { call, RUNTIME, useHarness } from "../../support/harness.ts";
import {
  factsOf,
  hasSources,
  operationsOf,
  planCommand,
  planOf,
  RECORDED,
  recordedPlan,
  withRecordedBundles,
} from "../../support/recorded-host.ts";

const HOST = "guest-v2";
const RECORD = process.env["RUNT_RECORD"];

interface Facts {
  readonly kernel: { readonly architecture: string; readonly systemCalls: readonly string[] };
  readonly cgroup: { readonly version: number; readonly hierarchies: readonly unknown[] };
}

describe.runIf(isUnified)(`the recorded facts ${HOST}`, () => {
  const { directory } = useHarness();

  async function output(command: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await call(directory, command);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    return stdout;
  }

  test("are those of this machine, as far as they are the same after every boot", async () => {
    const file = join(directory, "facts.json");
    writeFileSync(file, await output([RUNTIME, "check", "-f", "json"]));
    if (RECORD !== undefined) copyFileSync(file, join(RECORD, basename(factsOf(HOST))));
    const [now, recorded] = [file, RECORD === undefined ? factsOf(HOST) : file].map(
      (path) => JSON.parse(readFileSync(path, "utf8")) as Facts,
    );
    for (const stable of ["architecture", "systemCalls"] as const) expect(now!.kernel[stable]).toEqual(recorded!.kernel[stable]);
    expect(now!.cgroup.version).toBe(2);
    // Its files depend on the controllers that somebody has enabled since.
    expect(now!.cgroup.hierarchies).toEqual(recorded!.cgroup.hierarchies);
  });

  test("give the plans that are made here", () =>
    withRecordedBundles(async () => {
      const facts = join(directory, "facts.json");
      writeFileSync(facts, await output([RUNTIME, "check", "-f", "json"]));
      for (const bundle of RECORDED) {
        const live = await output(planCommand(bundle, "live"));
        const planned = await output(planCommand(bundle, RECORD === undefined ? factsOf(HOST) : facts));
        if (RECORD !== undefined) writeFileSync(join(RECORD, basename(planOf(HOST, bundle))), planned);
        else expect(planned).toBe(recordedPlan(HOST, bundle));
        expect(operationsOf(live)).toBe(operationsOf(planned));
        if (!hasSources(bundle)) expect(live).toBe(planned);
      }
    }));
});
