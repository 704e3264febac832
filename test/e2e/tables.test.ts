/** Tables for people, JSON for programs: the form of events and features by choice. */
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRunt)("forms of output", () => {
  const { bundle, id, ok, runtime } = useHarness();

  test("features: JSON unless a table is asked for", async () => {
    expect(JSON.parse(await ok(["features"]))).toEqual(JSON.parse(await ok(["features", "--format", "json"])));
    const lines = (await ok(["features", "-f", "table"])).split("\n");
    expect(lines.find((line) => line.startsWith("linux.namespaces "))).toMatch(/ pid,.*user, uts$/);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  test.each([["features"], ["list"], ["events", "x"], ["ps", "x"]])("%s: another form is refused", async (verb, ...rest) => {
    const result = await runtime([verb, "--format", "yaml", ...rest]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("invalid format option: yaml (use table or json)");
  });

  test.skipIf(!isRoot || !hasControllers)("events: a heading and a line a sample, or a JSON object a line", async () => {
    const name = id();
    const path = bundle((config) => shell(config, "exec sleep 30"));
    await ok(["run", "-d", "-b", path, name]);
    expect(JSON.parse(await ok(["events", "--stats", name]))).toMatchObject({ type: "stats", id: name });
    const [heading, sample, ...rest] = (await ok(["events", "--stats", "--format", "table", name])).split("\n");
    expect(heading).toMatch(/^MEMORY +LIMIT +CPU +PIDS +READ +WRITTEN$/);
    expect(sample).toMatch(/^[\d.]+ ([KMG]i)?B +(-|[\d.]+ [KMG]iB) +\d+\.\d{3} s +\d+(\/\d+)? /);
    expect(rest).toEqual([""]);
  });

  test.skipIf(!isRoot)("events: the heading is not repeated", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "exec sleep 1")), name]);
    const lines = (await ok(["events", "--interval", "100ms", "--format", "table", name])).trimEnd().split("\n");
    expect(lines.length).toBeGreaterThan(2);
    expect(lines.filter((line) => line.startsWith("MEMORY"))).toHaveLength(1);
  });
});
