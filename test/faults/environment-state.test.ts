/** State directories and bundles that cannot be used: an error says so, and nothing is left. */
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { call, isRoot, isRunt, type Result, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { ONE_LINE } from "./environment.ts";

const PAGE = 4096;

describe.skipIf(!isRoot || !isRunt)("state directories (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  let count = 0;

  const staying = () => bundle((config) => shell(config, "exec sleep 60"));

  /** A tmpfs of its own as state root, for as long as `use` takes. */
  async function onTmpfs(
    options: string,
    use: (at: string, run: (args: readonly string[]) => Promise<Result>) => Promise<void>,
  ): Promise<void> {
    const at = join(directory, `state-${++count}`);
    mkdirSync(at);
    execFileSync("mount", ["-t", "tmpfs", "-o", `mode=700,${options}`, "state", at]);
    try {
      await use(at, (args) => call(directory, [RUNTIME, "--root", at, ...args]));
    } finally {
      for (const name of readdirSync(at)) await call(directory, [RUNTIME, "--root", at, "delete", "--force", name]);
      execFileSync("umount", [at]);
    }
  }

  const cgroupsLeft = () =>
    (isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((name) => `${CGROUPS}/${name}`)).filter((path) => existsSync(path + CGROUP_PARENT));

  /** From no room at all to enough, one step more each time: each create works, or fails with `words` and leaves nothing. */
  async function tighten(sizes: readonly string[], words: RegExp): Promise<{ failed: number; worked: number }> {
    const seen = { failed: 0, worked: 0 };
    const path = staying();
    for (const size of sizes) {
      await onTmpfs(size, async (at, run) => {
        const name = id();
        const result = await run(["create", "-b", path, name]);
        if (result.status === 0) {
          seen.worked++;
          expect(JSON.parse((await run(["state", name])).stdout)).toMatchObject({ status: "created" });
          expect(await run(["start", name])).toMatchObject({ status: 0 });
          expect(await run(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
        } else {
          seen.failed++;
          expect(result.stderr).toMatch(words);
          expect(result.stderr).toMatch(ONE_LINE);
        }
        expect(readdirSync(at).filter((entry) => entry !== "@cache")).toEqual([]);
        expect(cgroupsLeft()).toEqual([]);
      });
    }
    return seen;
  }

  test("a file system without room", async () => {
    const sizes = [1, 2, 3, 4, 5, 6, 8, 12].map((pages) => `size=${pages * PAGE}`);
    const { failed, worked } = await tighten(sizes, /no space left on device/);
    expect(failed).toBeGreaterThan(0);
    expect(worked).toBeGreaterThan(0);
  });

  test("a file system without inodes", async () => {
    const sizes = [1, 2, 3, 4, 5, 6, 7, 8].map((inodes) => `nr_inodes=${inodes}`);
    const { failed, worked } = await tighten(sizes, /no space left on device/);
    expect(failed).toBeGreaterThan(2);
    expect(worked).toBeGreaterThan(0);
  });

  test("full once the container exists: every other verb works, and an update says what it could not keep", async () => {
    await onTmpfs("size=256k", async (at, run) => {
      const name = id();
      expect(await run(["create", "-b", staying(), name])).toMatchObject({ status: 0 });
      writeFileSync(join(at, "filler"), Buffer.alloc(statfsSync(at).bavail * PAGE));
      expect(statfsSync(at).bavail).toBe(0);
      const record = readFileSync(join(at, name, "state.json"), "utf8");
      for (const args of [["start", name], ["state", name], ["exec", name, "true"], ["pause", name], ["resume", name], ["list"]])
        expect(await run(args), args[0]).toMatchObject({ status: 0, stderr: "" });
      const update = await run(["update", "--pids-limit", "30", name]);
      expect(update.status === 0 ? "" : update.stderr).toMatch(/^$|no space left on device/);
      expect(readFileSync(join(at, name, "state.json"), "utf8")).toBe(record);
      expect(await run(["kill", name, "KILL"])).toMatchObject({ status: 0, stderr: "" });
      expect(await run(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
      rmSync(join(at, "filler"));
    });
  });

  test("made read-only", async () => {
    await onTmpfs("size=1m", async (at, run) => {
      const name = id();
      expect(await run(["run", "-d", "-b", staying(), name])).toMatchObject({ status: 0 });
      execFileSync("mount", ["-o", "remount,ro", at]);
      const refused = await run(["create", "-b", staying(), id()]);
      expect(refused).toMatchObject({ status: 1 });
      expect(refused.stderr).toMatch(/state directory .*: read-only file system/);
      for (const args of [
        ["state", name],
        ["exec", name, "true"],
        ["pause", name],
        ["resume", name],
        ["kill", name, "KILL"],
      ])
        expect(await run(args), args[0]).toMatchObject({ status: 0, stderr: "" });
      const removal = await run(["delete", "--force", name]);
      expect(removal).toMatchObject({ status: 1 });
      expect(removal.stderr).toMatch(/read-only file system/);
      expect(removal.stderr).toMatch(ONE_LINE);
      execFileSync("mount", ["-o", "remount,rw", at]);
      // Finished steps do not keep it from doing the rest.
      expect(await run(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
      expect(readdirSync(at)).toEqual([]);
    });
  });

  test("removed while the container runs: it is unknown, a new one of its name finds the cgroup in use, gc collects it", async () => {
    const name = id();
    const path = staying();
    const pidFile = join(directory, "pid");
    await ok(["run", "-d", "--pid-file", pidFile, "-b", path, name]);
    rmSync(join(root, name), { recursive: true });
    for (const verb of ["state", "start", "kill", "pause", "delete"]) {
      const result = await runtime([verb, name]);
      expect(result.status, verb).toBe(1);
      expect(result.stderr, verb).toContain("container does not exist");
    }
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    const again = await runtime(["create", "-b", path, name]);
    expect(again.status).toBe(1);
    expect(again.stderr).toContain("container's cgroup is not empty");
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    // Only its mark identifies the cgroup.
    await expect.poll(async () => [(await runtime(["gc", "--yes"])).status, cgroupsLeft()]).toEqual([0, []]);
  });

  /** The record of a container that is gone, as a power failure leaves it on a disk. */
  async function afterPowerFailure(change: (record: string) => string): Promise<string> {
    const name = id();
    await ok(["run", "-d", "-b", staying(), name]);
    const record = readFileSync(join(root, name, "state.json"), "utf8");
    await ok(["delete", "--force", name]);
    mkdirSync(join(root, name));
    writeFileSync(join(root, name, "state.json"), change(record));
    return name;
  }

  test("lost power: a whole record of an earlier boot is that of a stopped container", async () => {
    const name = await afterPowerFailure((record) => record);
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "stopped", pid: 0 });
    expect((await runtime(["start", name])).stderr).toContain("cannot start a container that has stopped");
    expect((await runtime(["exec", name, "true"])).stderr).toContain("cannot exec in a stopped container");
    expect(await runtime(["delete", name])).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readdirSync(root)).toEqual([]);
  });

  test.each([
    ["empty", () => ""],
    ["half", (record: string) => record.slice(0, record.length >> 1)],
    ["zeros", (record: string) => "\0".repeat(record.length)],
    ["of something else", () => '{"schema": 1}'],
  ])("lost power: a record that is %s", async (_, change) => {
    const name = await afterPowerFailure(change);
    for (const args of [
      ["state", name],
      ["start", name],
      ["kill", name],
      ["exec", name, "true"],
      ["pause", name],
      ["delete", name],
    ]) {
      const { status, stderr } = await runtime(args);
      expect(status, args[0]).not.toBe(0);
      expect(stderr, args[0]).toMatch(/state\.json: (not JSON|not a state record|fields are missing)\n$/);
      expect(stderr, args[0]).toMatch(ONE_LINE);
    }
    // One broken container hides no other.
    const other = id();
    await ok(["create", "-b", staying(), other]);
    expect(await ok(["list", "-q"])).toContain(other);
    await ok(["delete", "--force", other]);
    expect((await runtime(["create", "-b", staying(), name])).stderr).toContain("already exists");
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stdout: "", stderr: "" });
    expect(readdirSync(root)).toEqual([]);
  });

  test("a root that is a file, or below one", async () => {
    const file = join(directory, "file");
    writeFileSync(file, "");
    for (const at of [file, `${file}/below`]) {
      const result = await call(directory, [RUNTIME, "--root", at, "create", "-b", staying(), "x"]);
      expect(result.status).toBe(1);
      expect(result.stderr).toMatch(/^runt: state directory .*: not a directory( \(.*--root\))?\n$/);
    }
  });

  test("a bundle that may not be read", async () => {
    const path = staying();
    const locked = join(directory, "locked");
    mkdirSync(locked);
    execFileSync("mv", [path, join(locked, "bundle")]);
    chmodSync(locked, 0o000);
    chmodSync(directory, 0o777);
    try {
      // root may read everything; the rights of others are tried as nobody, with a root of the state of its own.
      const nobody = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", RUNTIME, "--root", join(directory, "nobody")];
      const result = await call(directory, [...nobody, "create", "-b", join(locked, "bundle"), id()]);
      expect(result.status).toBe(1);
      expect(result.stderr).toMatch(/^runt: [^\n]*permission denied[^\n]*\n$/);
      expect(existsSync(join(directory, "nobody"))).toBe(false);
    } finally {
      chmodSync(directory, 0o711);
      chmodSync(locked, 0o700);
    }
  });
});
