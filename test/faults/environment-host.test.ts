/** Hosts that lack what every host has: each in a mount namespace of its own, so that nobody else sees it. */
import { existsSync, readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { CGROUPS, isUnified } from "../support/cgroups.ts";
import { isRoot, isRunt, shell, useHarness } from "../support/harness.ts";
import { CGROUP_PARENT } from "../support/leaks.ts";
import { below, type Lived, live, ONE_LINE, privately } from "./environment.ts";

const EACH_CGROUP = `for at in ${CGROUPS} ${CGROUPS}/*/; do mountpoint -q $at &&`;
const LOOK = "id; stat -c '%A %u %g %t %T' /dev/null; wc -c < /proc/keys; touch /proc/sys/x 2>&1; ls / /dev; grep Cap /proc/self/status";

describe.skipIf(!isRoot || !isRunt)("odd hosts (needs root)", () => {
  const harness = useHarness();
  const { bundle, id, ok, root, runtime } = harness;

  const sample = (command: string) =>
    bundle((config) => {
      config.process.terminal = false;
      shell(config, command);
    }, "shell");
  let bundles: readonly [string, string] | undefined;
  const samples = () => (bundles ??= [sample("exec sleep 60"), sample(LOOK)]);
  const lifeBelow = (prefix: readonly string[]): Promise<Lived> =>
    live(below(harness, prefix), id(), ...samples(), ["/bin/sh", "-c", LOOK]);
  let usual: Lived | undefined;
  const nothingLeft = () => {
    expect(existsSync(root) ? readdirSync(root) : []).toEqual([]);
    const places = isUnified ? [CGROUPS] : readdirSync(CGROUPS).map((name) => `${CGROUPS}/${name}`);
    expect(places.filter((path) => existsSync(path + CGROUP_PARENT))).toEqual([]);
  };

  test.each([
    ["hidepid=2", "mount -t proc -o hidepid=2 proc /proc"],
    ["hidepid=4", "mount -t proc -o hidepid=4 proc /proc"],
    ["only processes in /proc", "mount -t proc -o subset=pid proc /proc"],
    ["an empty /tmp and /run, without execution", "mount -t tmpfs -o noexec run /run"],
    [
      "no /sys but the cgroups",
      "mkdir -p /tmp/sys-$$; mount --rbind /sys/fs/cgroup /tmp/sys-$$; mount -t tmpfs sys /sys; mkdir -p /sys/fs/cgroup; mount --move /tmp/sys-$$ /sys/fs/cgroup; rmdir /tmp/sys-$$",
    ],
  ])("%s: the container is the same", async (_, line) => {
    usual ??= await lifeBelow([]);
    expect(usual.failed).toBeUndefined();
    expect(usual.run).toContain("CapEff");
    expect(await lifeBelow(privately(line))).toEqual(usual);
    nothingLeft();
  });

  test.each([
    ["read-only cgroups", `${EACH_CGROUP} mount -o remount,bind,ro $at; done || :`, /cgroup.*read-only file system/],
    ["no cgroups", `umount -R -l ${CGROUPS}`, /controller is not mounted/],
    ["no /proc", "umount -R -l /proc", /\/proc/],
    ["an empty /proc", "mount -t tmpfs proc /proc", /\/proc/],
    // With another file in the place of the null device, a masked path would show the content of that file.
    ["an empty /dev", "mount -t tmpfs dev /dev", /mask\.open "\/dev\/null": open: no such file/],
    ["a /dev of files", "mount -t tmpfs dev /dev; touch /dev/null /dev/zero /dev/ptmx", /mask\.open "\/dev\/null": not the null device/],
    [
      "a /dev/null that is another device",
      "mount -t tmpfs dev /dev; mknod /dev/null c 1 5",
      /mask\.open "\/dev\/null": not the null device/,
    ],
  ])("%s: create says so", async (_, line, words) => {
    const { failed } = await lifeBelow(privately(line));
    expect(failed).toMatchObject({ verb: "create", status: 1 });
    expect(failed?.stderr).toMatch(words);
    expect(failed?.stderr).toMatch(ONE_LINE);
    nothingLeft();
  });

  test.each([
    ["read-only cgroups", `${EACH_CGROUP} mount -o remount,bind,ro $at; done || :`],
    ["no cgroups", `umount -R -l ${CGROUPS}`],
    ["no /proc", "umount -R -l /proc"],
    ["an empty /proc", "mount -t tmpfs proc /proc"],
  ])("%s once the container runs: every verb does what it can or says what it cannot, and delete works later", async (_, line) => {
    const run = below(harness, privately(line));
    const name = id();
    await ok(["run", "-d", "-b", samples()[0], name]);
    for (const args of [
      ["state", name],
      ["list"],
      ["exec", name, "true"],
      ["pause", name],
      ["resume", name],
      ["ps", name],
      ["events", "--stats", name],
    ]) {
      const { status, stderr } = await run(args);
      if (status !== 0) expect(stderr, args[0]).toMatch(ONE_LINE);
      else expect(stderr, args[0]).toBe("");
    }
    // Never half a removal that looks like a whole one.
    const { status, stderr } = await run(["delete", "--force", name]);
    expect(status).toBe(1);
    expect(stderr).toMatch(ONE_LINE);
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ id: name });
    expect(await runtime(["delete", "--force", name])).toMatchObject({ status: 0, stderr: "" });
    nothingLeft();
  });

  test("without /proc no container counts as stopped", async () => {
    const name = id();
    await ok(["run", "-d", "-b", samples()[0], name]);
    // Not asked for, the rights of the caller are looked up in /proc, and that is where every verb ends.
    const run = below(harness, privately("umount -R -l /proc"));
    for (const verb of [["state"], ["delete"], ["kill"], ["pause"]]) {
      const { status, stderr } = await run(["--rootless=false", ...verb, name]);
      expect(status, verb[0]).toBe(1);
      expect(stderr, verb[0]).toMatch(/^runt: open \/proc\/\d+\/stat: no such file or directory\n$/);
    }
    expect(JSON.parse(await ok(["state", name]))).toMatchObject({ status: "running" });
    await ok(["delete", "--force", name]);
    nothingLeft();
  });
});
