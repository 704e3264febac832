/** cgroup.openTree: a cgroup that the runtime is about to make. */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MESSAGES } from "../../src/shared/protocol/index.ts";
import { makeRootfs, runPlan } from "../support/helper.ts";
import { init } from "../support/pack.ts";
import { container, PROC } from "../support/plans.ts";
import { isRoot, VARIANTS } from "../support/variants.ts";

const SLOT = 5;

describe.skipIf(!isRoot).each(VARIANTS)("cgroups that are opened as they are made: %s", (_, options) => {
  let root: string, host: string;
  beforeEach(() => {
    root = makeRootfs();
    host = makeRootfs();
  });
  afterEach(() => {
    for (const directory of [root, host]) rmSync(directory, { recursive: true, force: true });
  });

  /** Binds host/NAME to /cgroup, and waits for the message in the end. */
  function open(name: string, driver: readonly string[]) {
    const path = join(host, name);
    const plan = container({
      root,
      mounts: [PROC, init("cgroup.openTree", { path, slot: SLOT, made: 2 }), init("mount.bind", { slot: SLOT, target: "/cgroup" })],
      paths: [init("sync.wait", { message: MESSAGES.cgroup })],
      script: "grep ' /cgroup ' /proc/self/mountinfo",
    });
    return runPlan(plan, { ...options, driver });
  }

  test("without a page it waits for the message, and nobody waits for that twice", () => {
    const { error, stdout } = open("made", ["--cgroup", join(host, "made")]);
    expect(error).toBeUndefined();
    expect(stdout).toContain("/made /cgroup ");
  });

  test("a page that says so is believed", () => {
    mkdirSync(join(host, "made"));
    const { error, stdout } = open("made", ["--page", "2", "--cgroup", join(host, "another")]);
    expect(error).toBeUndefined();
    expect(stdout).toContain("/made /cgroup ");
  });

  test.each(["1", "2", "7"])("with %s made according to the page, what is not there yet is waited for", (made) => {
    const { error, stdout } = open("made", ["--page", made, "--cgroup", join(host, "made")]);
    expect(error).toBeUndefined();
    expect(stdout).toContain("/made /cgroup ");
  });

  test.each([[[]], [["--page", "2"]]])("what is never made is an error (%j)", (page) => {
    const { error } = open("missing", [...page, "--cgroup", join(host, "made")]);
    expect(error).toMatchObject({ errno: 2, path: join(host, "missing") });
  });
});
