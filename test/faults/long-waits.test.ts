/** Waits whose bound is a minute: by `make test-faults` only (RUNT_LONG_WAITS=1). */
import { describe, expect, test } from "vitest";
import { AT_ONCE_MS, useBackground } from "../support/background.ts";
import { mountDead } from "../support/dead-fuse.ts";
import { isRoot, isRunt, useHarness } from "../support/harness.ts";

const isWanted = process.env["RUNT_LONG_WAITS"] !== undefined;
/** Of src/runtime/execute/slow.ts. */
const STILL_MS = 60_000;

describe.skipIf(!isRoot || !isRunt || !isWanted)("a long wait (needs root)", () => {
  const harness = useHarness();
  const { begin, initOf, running, timed } = useBackground(harness);

  test("exec gives up when the process has not moved for a minute; the container goes on", async () => {
    const name = await running();
    await mountDead(begin, harness.directory, await initOf(name), "/var");
    const ended = await timed(["exec", "--cwd", "/var/x", name, "true"]);
    expect(ended).toMatchObject({
      status: 255,
      stderr: expect.stringMatching(/exec failed: process \d+, which becomes the program, has not moved for 60 s; it has been ended$/),
    });
    expect(ended.milliseconds).toBeGreaterThan(STILL_MS);
    expect(ended.milliseconds).toBeLessThan(STILL_MS + AT_ONCE_MS);
    expect(await timed(["exec", name, "true"])).toMatchObject({ status: 0 });
  });
});
