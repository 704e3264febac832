/** Verbs that need no container, as a user without rights, without a session and with an empty environment. */
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { hasControllers } from "../support/cgroups.ts";
import { call, isRoot, isRunt, RUNTIME, useHarness } from "../support/harness.ts";

const NOBODY = 65_534;
const AS_NOBODY = ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "env", "-i"];

describe.skipIf(!isRoot || !isRunt)("as nobody, with an empty environment (needs root)", () => {
  const { directory, bundle } = useHarness();
  const program = join(directory, "runt");
  const own = join(directory, "own");

  beforeAll(() => {
    copyFileSync(RUNTIME, program);
    chmodSync(program, 0o755);
    mkdirSync(own, { mode: 0o777 });
    chmodSync(own, 0o777);
  });

  const anybody = (...args: string[]) => call(directory, [...AS_NOBODY, program, ...args]);

  test.each([
    ["validate", "--host", "none"],
    ["plan", "--host", "none"],
  ])("%s %s %s reads a bundle", async (verb, ...flags) => {
    const { status, stderr } = await anybody(verb, ...flags, "-b", bundle());
    expect(stderr).not.toContain("XDG_RUNTIME_DIR");
    expect(status).toBe(0);
  });

  test.each([
    ["schema", '"$schema"'],
    ["features", '"ociVersionMax"'],
    ["completion bash", "complete"],
    ["list", "STATUS"],
    ["gc --dry-run", ""],
    ["help run", "run"],
  ])("%s", async (words, shown) => {
    const { status, stdout, stderr } = await anybody(...words.split(" "));
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toContain(shown);
  });

  test.skipIf(!hasControllers)("validate says what a user may not do, and how to go on", async () => {
    const mapping = [{ containerID: 0, hostID: NOBODY, size: 1 }];
    const path = bundle(({ linux, mounts }) => {
      linux.namespaces.push({ type: "user" });
      Object.assign(linux, { uidMappings: mapping, gidMappings: mapping });
      linux.resources["devices"] = [{ allow: false, access: "rwm" }];
      mounts.push({ destination: "/not/there", type: "tmpfs", source: "tmpfs" });
    });
    const { stdout } = await anybody("validate", path);
    // The root file system is root's, and on no read-only one.
    expect(stdout).toMatch(
      /error\[mount-point-denied\] .*\n.*"\/not\/there" is not there, and the container's root, uid 65534 on the host/,
    );
    expect(stdout).not.toContain("read-only one");
    expect(stdout).toMatch(
      /device rules need rights on the host and are left out\n {2}fix: leave the rules out, or create the container as root/,
    );
  });

  test("validate finds a namespace that a user may not open", async () => {
    const path = bundle(({ linux }) => {
      linux.namespaces = [...linux.namespaces.filter(({ type }) => type !== "network"), { type: "network", path: "/proc/1/ns/net" }];
    });
    const { stdout } = await anybody("validate", path);
    expect(stdout).toMatch(/error\[namespace-path-denied\] .*\n.*"\/proc\/1\/ns\/net" cannot be opened: permission denied/);
  });

  test("check says what the host offers", async () => {
    const { stdout, stderr } = await anybody("check", "-f", "json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout).caller.stateRoot).toBe(`/run/user/${NOBODY}/runt`);
  });

  test("spec writes a configuration", async () => {
    const file = join(own, "config.json");
    const { status, stderr } = await anybody("spec", "--rootless", "--file", file);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  });

  test.each(["state", "kill", "delete", "start", "ps"])("%s says that there is no such container", async (verb) => {
    const { status, stderr } = await anybody(verb, "absent");
    expect({ status, stderr }).toEqual({ status: 1, stderr: "runt: container does not exist: absent\n" });
  });

  test("create says which state directory cannot be made, and what to do", async () => {
    const mapping = [{ containerID: 0, hostID: NOBODY, size: 1 }];
    const rootless = bundle(({ linux }) => {
      linux.namespaces.push({ type: "user" });
      Object.assign(linux, { uidMappings: mapping, gidMappings: mapping });
    });
    const { status, stderr } = await anybody("create", "-b", rootless, "absent");
    expect(status).toBe(1);
    expect(stderr).toMatch(/state directory \/run\/user.*: permission denied.*--root/is);
  });
});
