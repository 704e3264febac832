/** Common mistakes, and the one line that says what is wrong. */
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import type { Config } from "../support/config.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

describe.skipIf(!isRoot || !isRunt)("messages (needs root)", () => {
  const { bundle, directory, id, ok, runtime } = useHarness();

  test.each([
    ["a FIFO", (file: string) => execFileSync("mkfifo", [file]), "it is a FIFO, not a file"],
    ["a directory", (file: string) => mkdirSync(file), "it is a directory, not a file"],
    ["UTF-16", (file: string) => writeFileSync(file, `\ufeff{}`, "utf16le"), "it is UTF-16, not UTF-8 (save the file as UTF-8)"],
    ["other bytes", (file: string) => writeFileSync(file, Buffer.from([0x7b, 0xff, 0x7d])), "it has bytes that are not UTF-8"],
    [
      "JSON with a comment",
      (file: string) => writeFileSync(file, '{ // first\n"ociVersion": "1.0.0" }'),
      ":1:3: JSON has no comments (take the comments out)",
    ],
  ])("config.json is %s", async (_, make, words) => {
    const path = bundle();
    rmSync(join(path, "config.json"));
    make(join(path, "config.json"));
    const { status, stderr } = await runtime(["create", "-b", path, id()]);
    expect(status).toBe(1);
    expect(stderr).toContain(words);
    const validated = await runtime(["validate", "-b", path]);
    expect(validated.status).not.toBe(0);
    expect(validated.stdout + validated.stderr).toContain(words.replace(/ \(.*/, "").replace(/^:1:3: /, ""));
  });

  const mountOn = (destination: string, source: string) => (config: Config) =>
    void config.mounts.push({ destination, type: "bind", source, options: ["bind"] });

  test.each([
    ["a file on a directory", "/etc", "/etc/hostname"],
    ["a directory on a file", "/etc/passwd", "/etc"],
  ])("a bind of %s", async (_, destination, source) => {
    const path = bundle(mountOn(destination, source));
    const { stderr } = await runtime(["create", "-b", path, id()]);
    expect(stderr).toContain("a file can be mounted on a file only, and a directory on a directory");
  });

  test.skipIf(!hasControllers)("a memory limit of less than a page", async () => {
    const path = bundle((config) => Object.assign(config.linux.resources, { memory: { limit: 1024 } }));
    const { stderr } = await runtime(["run", "-b", path, id()]);
    expect(stderr).not.toContain("0 bytes");
    expect(stderr).toMatch(/memory limit/);
  });

  test("a second pause", async () => {
    const name = id();
    await ok(["run", "-d", "-b", bundle((config) => shell(config, "sleep 100")), name]);
    await ok(["pause", name]);
    expect(await runtime(["pause", name])).toMatchObject({ status: 1, stderr: "runt: container already paused\n" });
    await ok(["resume", name]);
  });

  test.each([
    [["create"], 'runt: "create" requires exactly 1 argument (runt create --help)'],
    [["--log-format", "xml", "list"], "invalid log-format: xml (use text or json)"],
    [["kill", "x", "NOSUCHSIGNAL"], "use 0 to 64, or a name such as TERM, KILL, HUP"],
    [["run", "--detach", "--console-socket"], "console-socket"],
  ])("%j", async (args, words) => {
    const { status, stderr } = await runtime(args);
    expect(status).not.toBe(0);
    expect(stderr).toContain(words);
    expect(stderr).not.toContain("runt: runt:");
  });

  test("another id than the plan's", async () => {
    const path = bundle();
    const file = join(directory, "plan.json");
    writeFileSync(file, await ok(["plan", "-f", "json", "-b", path, "one"]));
    const { digest } = JSON.parse(readFileSync(file, "utf8"));
    const byDigest = await runtime(["create", "--expect-plan", digest, "-b", path, "two"]);
    expect(byDigest.stderr).toMatch(/the plan of "two" is .*a plan is made for one id/);
    expect((await runtime(["create", "--expect-plan", file, "-b", path, "two"])).stderr).toContain('it was made for the id "one"');
  });
});
