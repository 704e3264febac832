/** AppArmor and SELinux where the host has neither: LSM-02, LSM-03, LSM-04. What is written where they exist is in test/native/hook.test.ts. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";

const hasModule = existsSync("/sys/module/apparmor") || existsSync("/sys/fs/selinux/enforce");

describe.skipIf(!isRoot || !isRunt || hasModule)("labels (needs root, and a host without AppArmor and SELinux)", () => {
  const { bundle, id, runtime } = useHarness();

  test.each([
    [
      "process",
      "apparmorProfile",
      "container-default",
      'process.apparmorProfile: apparmor is not enabled on this host: "container-default"',
    ],
    ["process", "selinuxLabel", "u:r:t:s0", 'process.selinuxLabel: selinux is not enabled on this host: "u:r:t:s0"'],
    ["linux", "mountLabel", "u:r:t:s0", 'linux.mountLabel: selinux is not enabled on this host: "u:r:t:s0"'],
  ] as const)("%s.%s is refused before anything is done", async (section, field, value, words) => {
    const path = bundle((config) => Object.assign(config[section], { [field]: value }));
    const result = await runtime(["create", "-b", path, id()]);
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(words);
  });

  test("unconfined is what everything is", async () => {
    const path = bundle((config) => {
      Object.assign(config.process, { apparmorProfile: "unconfined", selinuxLabel: "" });
      shell(config, "echo runs");
    });
    expect(await runtime(["run", "-b", path, id()])).toEqual({ status: 0, stdout: "runs\n", stderr: "" });
  });
});
