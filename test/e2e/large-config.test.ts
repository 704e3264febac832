/** A configuration of some 6 MB is validated in less time than it takes to read and derive it twice. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, SLOW, useHarness } from "../support/harness.ts";

const MOUNTS = 30_000;
/** Other programs take a part of the caches: the same work may take half as long again on a busy machine. */
const ROUNDS = 3;
/** An emulated machine counts as its own what other programs of its host take meanwhile. */
const NOISE = SLOW > 1 ? 2 : 1;

describe.skipIf(!isRoot || !isRunt)("a large configuration (needs root)", () => {
  const { bundle, directory, root } = useHarness();

  /** User CPU seconds, which a busy machine changes less than time. */
  async function seconds(...args: string[]): Promise<number> {
    const script = 'TIMEFORMAT=%U; time "$@" >/dev/null';
    const { status, stderr } = await call(directory, ["bash", "-c", script, "bash", RUNTIME, "--root", root, ...args]);
    expect(status).toBe(args.includes("--fail-on") ? 1 : 0);
    return Number(stderr);
  }

  /** The least of several measurements of each, which take turns. */
  async function least(...commands: (readonly string[])[]): Promise<number[]> {
    const found = commands.map(() => Number.POSITIVE_INFINITY);
    for (let round = 0; round < ROUNDS; round++)
      for (const [index, command] of commands.entries()) found[index] = Math.min(found[index]!, await seconds(...command));
    return found;
  }

  test("of many mounts is validated in about the time that it takes to compare it with itself", async () => {
    mkdirSync(join(directory, "source"));
    const path = bundle((config) => {
      const source = join(directory, "source");
      for (let index = 0; index < MOUNTS; index++)
        config.mounts.push({ destination: `/tmp/directory-${index}`, type: "bind", source, options: ["rbind", "ro", "nosuid"] });
    });
    // Both sides are parsed and derived, and nothing is looked at.
    const [twice, alone, whole] = await least(["diff", path, path], ["validate", "--host", "none", path], ["validate", path]);
    expect(alone).toBeLessThan(NOISE * twice!);
    expect(whole).toBeLessThan(1.5 * NOISE * twice!);
  });

  test("in which the source of every mount is missing takes no longer", async () => {
    const sound = bundle((config) => {
      for (let index = 0; index < MOUNTS; index++)
        config.mounts.push({ destination: `/d/${index}`, type: "bind", source: "/dev/null", options: ["bind", "ro"] });
    });
    const broken = bundle((config) => {
      for (let index = 0; index < MOUNTS; index++)
        config.mounts.push({ destination: `/d/${index}`, type: "bind", source: `/missing/source/of/${index}`, options: ["bind", "ro"] });
    });
    const [twice, whole] = await least(["diff", sound, sound], ["validate", "--fail-on", "error", broken]);
    expect(whole).toBeLessThan(1.5 * NOISE * twice!);
  });

  test("of mounts at the longest paths takes no more memory than others of its size", async () => {
    const path = bundle((config) => {
      for (let index = 0; index < 1500; index++)
        config.mounts.push({ destination: `/${index}${"/a".repeat(2000)}`, type: "bind", source: "/dev/null", options: ["bind"] });
    });
    const limited = 'ulimit -v 1000000; exec "$@" >/dev/null';
    const { status, stderr } = await call(directory, ["bash", "-c", limited, "bash", RUNTIME, "--root", root, "validate", path]);
    expect([status, stderr]).toEqual([0, ""]);
  });
});
