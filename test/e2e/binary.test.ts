/** The binary: one small static file that works alone. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const LIMIT = 9_000_000;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;

/** Types of the program headers of a 64-bit little-endian ELF file. */
function segmentTypes(path: string): number[] {
  const file = readFileSync(path);
  const offset = Number(file.readBigUInt64LE(32));
  const size = file.readUInt16LE(54);
  return Array.from({ length: file.readUInt16LE(56) }, (_, index) => file.readUInt32LE(offset + index * size));
}

describe.skipIf(!isRunt)("the binary", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();

  test("is one static file below 9 MB", () => {
    expect(statSync(RUNTIME).size).toBeLessThan(LIMIT);
    expect(segmentTypes(RUNTIME)).not.toContain(PT_INTERP);
    expect(segmentTypes(RUNTIME)).not.toContain(PT_DYNAMIC);
  });

  test.skipIf(!isRoot)("works when copied alone, without PATH and HOME", async () => {
    const alone = join(directory, "alone");
    mkdirSync(alone);
    copyFileSync(RUNTIME, join(alone, "runt"));
    const path = bundle((config) => shell(config, "echo alone"));
    const result = await call(directory, ["/usr/bin/env", "-i", join(alone, "runt"), "--root", root, "run", "-b", path, id()]);
    expect(result).toEqual({ status: 0, stdout: "alone\n", stderr: "" });
    rmSync(alone, { recursive: true });
  });

  test("--version names runt, the commit and the specification", async () => {
    const text = await ok(["--version"]);
    expect(text).toMatch(/^runt version \d+\.\d+\.\d+.*\n/);
    expect(text).toMatch(/^commit: /m);
    expect(text).toMatch(/^spec: \d+\.\d+\.\d+/m);
  });

  test.each([
    "create",
    "start",
    "state",
    "kill",
    "delete",
    "run",
    "list",
    "spec",
    "features",
    "plan",
    "check",
    "inspect",
    "diff",
    "schema",
    "explain",
  ])("%s --help", async (verb) => {
    const result = await runtime([verb, "--help"]);
    expect(result).toMatchObject({ status: 0, stderr: "" });
    expect(result.stdout).toMatch(new RegExp(`^NAME:\\n +runt ${verb} `));
  });

  test("--help and help", async () => {
    expect(await ok(["--help"])).toMatch(/^NAME:\n +runt - Open Container Initiative runtime/);
  });

  test("features is JSON with what engines look for", async () => {
    const features = JSON.parse(await ok(["features"]));
    expect(features.ociVersionMin).toMatch(/^1\.0/);
    expect(features.ociVersionMax).toMatch(/^1\./);
    expect(features.mountOptions).toContain("rro");
    expect(features.linux.namespaces).toContain("user");
  });

  test("spec writes a config.json that runs, and refuses to overwrite it", async () => {
    const path = bundle();
    const config = join(path, "config.json");
    rmSync(config);
    await ok(["spec", "-b", path]);
    expect(JSON.parse(readFileSync(config, "utf8")).process.args).toEqual(["sh"]);
    const again = await runtime(["spec", "-b", path]);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("config.json exists. Remove it first");
  });

  test.skipIf(!isRoot)("plan and --dry-run print what create would do, and change nothing", async () => {
    const path = bundle();
    const name = id();
    const text = await ok(["plan", "-b", path, name]);
    expect(text).toContain("root.pivot");
    for (const verb of ["create", "run"]) expect(await ok([verb, "--dry-run", "-b", path, name])).toContain("root.pivot");
    const json = JSON.parse(await ok(["plan", "--format", "json", "-b", path, name]));
    expect(json.version).toBe(1);
    expect((await runtime(["state", name])).status).toBe(1);
  });
});
