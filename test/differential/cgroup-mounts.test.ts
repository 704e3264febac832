/** What a mount of type cgroup shows, in every combination, beside runc: v1 as this host has it, v2 in a mount namespace of its own. */
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";

const RUNC = "/usr/sbin/runc";
const TARGET = "/sys/fs/cgroup";
/** The runtime then finds a bare cgroup2 tree where a v2 host has it. */
const UNIFIED = `mount --make-rprivate / && umount -l ${TARGET} && mount -t cgroup2 cgroup2 ${TARGET} && exec "$@"`;
const isV1 = existsSync(`${TARGET}/memory`);

const COMBINATIONS = ["v1", "v2"].flatMap((version) =>
  [true, false].flatMap((namespace) =>
    ["rw", "ro"].flatMap((access) =>
      [false, true].map((user) => ({ version, namespace, access, user, title: describeOne(version, namespace, access, user) })),
    ),
  ),
);

function describeOne(version: string, namespace: boolean, access: string, user: boolean): string {
  return `${version}, ${namespace ? "own" : "the host's"} cgroup namespace, ${access}, ${user ? "user namespace" : "no user namespace"}`;
}

/** Hierarchies, and the kernel's files. Directories in a hierarchy are cgroups: those of others come and go between two containers. */
function files(version: string): string {
  const own = (path: string) => `ls -p ${path} 2>/dev/null | grep -v /`;
  return version === "v1" ? `ls ${TARGET}; ${own(`${TARGET}/memory`)}` : own(TARGET);
}

describe.skipIf(!isRoot || !isRunt || !isV1 || !existsSync(RUNC))(`cgroup mounts (needs root, a v1 or hybrid host, ${RUNC})`, () => {
  const { bundle, directory, id, root } = useHarness({ peers: true });

  async function lines(version: string, program: string, path: string): Promise<string[]> {
    const command = [program, "--root", root, "run", "--bundle", path, id()];
    const result = await call(directory, version === "v2" ? ["unshare", "-m", "sh", "-c", UNIFIED, "sh", ...command] : command);
    expect(result).toMatchObject({ status: 0, stderr: "" });
    return result.stdout.trimEnd().split("\n").map(withoutKnownDifferences);
  }

  /** They stand in the table of differences with their reasons. */
  function withoutKnownDifferences(line: string): string {
    return line
      .replace(/^(\/ \/sys\/fs\/cgroup) r[ow](.* - tmpfs )/, "$1$2")
      .replace(/ - cgroup (cgroup|systemd) rw,name=systemd/, " - cgroup rw,name=systemd")
      .replace(/ - cgroup2 (cgroup|cgroup2) rw/, " - cgroup2 rw");
  }

  test.each(COMBINATIONS)("$title", async ({ version, namespace, access, user }) => {
    const path = bundle((config) => {
      const { linux } = config;
      linux.namespaces = linux.namespaces.filter(({ type }) => type !== "cgroup");
      if (namespace) linux.namespaces.push({ type: "cgroup" });
      if (user) {
        linux.namespaces.push({ type: "user" });
        linux.uidMappings = linux.gidMappings = [{ containerID: 0, hostID: 100_000, size: 65_536 }];
      }
      config.mounts = config.mounts.filter(({ destination }) => destination !== TARGET);
      config.mounts.push({
        destination: TARGET,
        type: "cgroup",
        source: "cgroup",
        options: ["nosuid", "noexec", "nodev", "relatime", access],
      });
      shell(config, `grep ' ${TARGET}' /proc/self/mountinfo | sed 's/^\\([^ ]* \\)\\{3\\}//' | sort; ${files(version)}; true`);
    });
    const own = await lines(version, RUNTIME, path);
    expect(own).toEqual(await lines(version, RUNC, path));
    expect(own[0]).toContain(` ${TARGET} ${version === "v1" ? "" : access}`.trimEnd());
    expect(
      own.filter((line) => line.includes(` - cgroup`)).every((line) => line.includes(` ${access},nosuid,nodev,noexec,relatime `)),
    ).toBe(true);
  });

  test("the tmpfs of v1 is read-only too when that is asked for", async () => {
    const path = bundle((config) => {
      config.mounts.push({ destination: TARGET, type: "cgroup", source: "cgroup", options: ["ro"] });
      shell(config, `grep ' ${TARGET} ' /proc/self/mountinfo`);
    });
    const { stdout } = await call(directory, [RUNTIME, "--root", root, "run", "--bundle", path, id()]);
    expect(stdout).toMatch(/ \/sys\/fs\/cgroup ro,.* - tmpfs /);
  });
});
