/** A criu that answers nothing, and does not end when nobody listens to it any more (test/probe/fake-criu.c, FAKE_HANG). */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { AT_ONCE_MS, appears, isAlive, useBackground } from "../support/background.ts";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { useFakeCriu } from "../support/fake-criu.ts";
import { isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { program } from "../support/programs.ts";

/** Of src/runtime/criu/session.ts: for putting everything back. */
const END_MS = 10_000;

describe.skipIf(!isRoot || !isRunt)("a criu that does not answer (needs root)", () => {
  const harness = useHarness();
  const { bundle, directory, id, ok, root } = harness;
  const { begin, exists, initOf, timed } = useBackground(harness);
  const fake = useFakeCriu(harness);
  const criuPid = (): number => Number(readFileSync(join(fake.talk(), "pid"), "utf8"));

  afterEach(() => {
    if (existsSync(join(fake.talk(), "pid")) && isAlive(criuPid())) process.kill(criuPid(), "SIGKILL");
  });

  const asking = (words: readonly string[]) =>
    begin(words, ["env", `FAKE_CRIU=${fake.talk()}`, "FAKE_HANG=1", RUNTIME, "--root", root, "--criu", program("fake-criu")]);
  const hanging = () => appears(join(fake.talk(), "pid"));
  const cgroup = `${CGROUP_PARENT}/criu-hangs`;
  const prepared = () =>
    bundle((config) => {
      shell(config, "exec sleep 1000");
      config.linux.cgroupsPath = cgroup;
    });

  test("TERM ends restore: criu and what it has begun are killed, nothing is left", async () => {
    fake.image();
    const name = id();
    const restoring = asking(["restore", "-d", "--image-path", fake.images(), "-b", prepared(), name]);
    await hanging();
    const before = Date.now();
    restoring.process.kill("SIGTERM");
    const ended = await restoring.ended;
    expect(Date.now() - before).toBeLessThan(END_MS + AT_ONCE_MS);
    expect(ended).toMatchObject({ status: 143, stderr: expect.stringContaining("TERM: ended before the program began") });
    expect([exists(name), isAlive(criuPid())]).toEqual([false, false]);
    expect(existsSync(`${CGROUPS}${isUnified ? "" : "/memory"}${cgroup}`)).toBe(false);
  });

  test("delete --force ends a checkpoint and the container", async () => {
    const name = id();
    await ok(["run", "-d", "-b", prepared(), name]);
    const init = await initOf(name);
    const dumping = asking(["checkpoint", "--image-path", join(directory, `images-${name}`), name]);
    await hanging();
    const deleted = await timed(["delete", "--force", name]);
    expect(deleted).toMatchObject({ status: 0, stderr: "" });
    expect(deleted.milliseconds).toBeLessThan(END_MS + AT_ONCE_MS);
    // Its stderr stays open: criu has it.
    expect(dumping.process.exitCode ?? dumping.process.signalCode).not.toBe(null);
    expect(dumping.process.exitCode).not.toBe(0);
    expect([exists(name), isAlive(init)]).toEqual([false, false]);
  });
});
