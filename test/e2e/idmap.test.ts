/** Id-mapped mounts: what the program sees, and what the host keeps. MNT-08 to MNT-10, OPT-60 to OPT-63, FEA idmap. */

import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import type { Config, Mount } from "../support/config.ts";
import { call, isRoot, isRunt, RUNTIME, shell, useHarness } from "../support/harness.ts";
import { mapsTmpfs } from "../support/kernel.ts";

type Maps = { containerID: number; hostID: number; size: number }[];
interface MappedMount extends Mount {
  uidMappings?: Maps;
  gidMappings?: Maps;
}
const maps = (hostID: number, size = 65_536): Maps => [{ containerID: 0, hostID, size }];
const mapped = (hostID: number): Pick<MappedMount, "uidMappings" | "gidMappings"> => ({
  uidMappings: maps(hostID),
  gidMappings: maps(hostID),
});

describe.skipIf(!isRoot || !isRunt)("id-mapped mounts (needs root)", () => {
  const { bundle, directory, id, ok, root, runtime } = useHarness();
  const source = join(directory, "source");

  beforeAll(() => {
    mkdirSync(join(source, "below"), { recursive: true });
    chmodSync(source, 0o777);
    writeFileSync(join(source, "zero"), "");
    writeFileSync(join(source, "thousand"), "");
    chownSync(join(source, "thousand"), 1000, 1001);
  });

  const OWNERS = "stat -c '%u %g' /mnt /mnt/zero /mnt/thousand";
  const bind = (options: string[], more: Partial<MappedMount> = {}): MappedMount => ({
    destination: "/mnt",
    type: "bind",
    source,
    options: ["rbind", ...options],
    ...more,
  });
  const withMounts = (command: string, mounts: readonly MappedMount[], change: (config: Config) => void = () => {}) =>
    bundle((config) => {
      shell(config, command);
      config.mounts.push(...mounts);
      change(config);
    });
  const userNamespace =
    (uid = 100_000, gid = 200_000) =>
    (config: Config): void => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = maps(uid);
      config.linux.gidMappings = maps(gid);
    };
  const run = async (path: string) => (await ok(["run", "-b", path, id()])).trim().split("\n");

  test("mappings of the mount, without a user namespace", async () => {
    expect(await run(withMounts(OWNERS, [bind(["idmap"], mapped(5000))]))).toEqual(["5000 5000", "5000 5000", "6000 6001"]);
  });

  test("mappings of the mount are exact, in any order, ids outside are nobody's", async () => {
    const uidMappings = [
      { containerID: 1000, hostID: 7, size: 1 },
      { containerID: 0, hostID: 3, size: 1 },
    ];
    const path = withMounts(OWNERS, [bind(["idmap"], { uidMappings, gidMappings: maps(0, 1) })]);
    expect(await run(path)).toEqual(["3 0", "3 0", "7 65534"]);
  });

  test("mappings without the option are applied, with the advice to name it", async () => {
    const name = id();
    const path = withMounts("exec sleep 60", [bind([], mapped(5000))]);
    await ok(["run", "-d", "-b", path, name]);
    const { warnings } = JSON.parse(readFileSync(join(root, name, "state.json"), "utf8"));
    expect(warnings).toEqual([expect.stringContaining("has id mappings without the option idmap or ridmap")]);
    expect(await ok(["exec", name, "/bin/sh", "-c", OWNERS])).toBe("5000 5000\n5000 5000\n6000 6001\n");
  });

  test("idmap and ridmap take the mappings of the container's user namespace; what it writes is owned by root on the host", async () => {
    for (const option of ["idmap", "ridmap"]) {
      const path = withMounts(`${OWNERS}; touch /mnt/made`, [bind([option])], userNamespace());
      expect(await run(path)).toEqual(["0 0", "0 0", "1000 1001"]);
      const { uid, gid } = statSync(join(source, "made"));
      expect([uid, gid]).toEqual([0, 0]);
      rmSync(join(source, "made"));
    }
    expect(await run(withMounts(OWNERS, [bind([])], userNamespace()))).toEqual(Array(3).fill("65534 65534"));
  });

  test("mappings of the mount win over those of the container", async () => {
    const path = withMounts(
      OWNERS,
      [bind(["idmap"], { uidMappings: maps(100_010, 100), gidMappings: maps(200_020, 2000) })],
      userNamespace(),
    );
    expect(await run(path)).toEqual(["10 20", "10 20", "65534 1021"]);
  });

  test("a joined user namespace is what idmap takes its mappings from", async () => {
    const first = id();
    const pidFile = join(directory, first);
    const waiting = withMounts("exec sleep 60", [], userNamespace());
    await ok(["run", "-d", "--pid-file", pidFile, "-b", waiting, first]);
    const path = withMounts(`${OWNERS}; cat /proc/self/uid_map`, [bind(["idmap"])], (config) => {
      config.linux.namespaces.push({ type: "user", path: `/proc/${readFileSync(pidFile, "utf8")}/ns/user` });
    });
    expect((await run(path)).map((line) => line.trim().replaceAll(/\s+/g, " "))).toEqual(["0 0", "0 0", "1000 1001", "0 100000 65536"]);
  });

  test("crun's spelling: own ranges, and ranges relative to the container's", async () => {
    const absolute = withMounts(OWNERS, [bind(["idmap=uids=0-500-10#1000-7-1;gids=0-600-2000"])]);
    expect(await run(absolute)).toEqual(["500 600", "500 600", "7 1601"]);
    const relative = withMounts(OWNERS, [bind(["ridmap=uids=@0-5-10#@1000-20-1;gids=@0-6-2000"])], userNamespace());
    expect(await run(relative)).toEqual(["5 6", "5 6", "20 1007"]);
  });

  test("only ridmap reaches the mounts below", async () => {
    // A tmpfs would do only from Linux 6.3 on.
    const prepare = `mkdir -p ${join(directory, "other")} && mount --bind ${join(directory, "other")} ${join(source, "below")}`;
    for (const [option, below] of [
      ["idmap", "0"],
      ["ridmap", "5000"],
    ]) {
      const path = withMounts("stat -c %u /mnt /mnt/below", [bind([option!], mapped(5000))]);
      const script = `mount --make-rprivate / && ${prepare} && exec "$@"`;
      const result = await call(directory, ["unshare", "-m", "sh", "-c", script, "sh", RUNTIME, "--root", root, "run", "-b", path, id()]);
      expect(result).toEqual({ status: 0, stdout: `5000\n${below}\n`, stderr: "" });
    }
  });

  test.skipIf(!mapsTmpfs)("other filesystems: a tmpfs with its data, copied into, sealed, in a user namespace and without", async () => {
    const options = ["nosuid", "size=1m", "idmap", "tmpcopyup"];
    const tmpfs: MappedMount = { destination: "/usr", type: "tmpfs", source: "tmpfs", options };
    const command =
      "stat -c '%u %g %a' /usr; readlink /usr/bin/env; touch /usr/new && stat -c '%u %g' /usr/new; grep -o ' /usr .*' /proc/self/mountinfo";
    const inside = await run(withMounts(command, [tmpfs], userNamespace()));
    expect(inside.slice(0, 3)).toEqual(["0 0 755", "/bin/busybox", "0 0"]);
    expect(inside[3]).toMatch(/ rw,nosuid,relatime,idmapped .*size=1024k/);
    // The runtime makes /mnt/below as root of the host, whom the maps must have.
    const swapped = [...maps(5000, 1), { containerID: 5, hostID: 0, size: 1 }];
    const sealed: MappedMount = {
      destination: "/mnt",
      type: "tmpfs",
      source: "tmpfs",
      options: ["ro", "idmap", "mode=711"],
      uidMappings: swapped,
      gidMappings: swapped,
    };
    const out = await run(
      withMounts("stat -c '%u %a' /mnt /mnt/below; touch /mnt/x 2>&1; true", [sealed, { ...bind([]), destination: "/mnt/below" }]),
    );
    expect(out).toEqual(["5000 711", "0 777", "touch: /mnt/x: Read-only file system"]);
  });

  test("mounts with the same mappings share one user namespace", async () => {
    const others = [mapped(5000), mapped(5000), mapped(6000)].map((more, index) => ({
      ...bind(["idmap"], more),
      destination: `/tmp/${index}`,
    }));
    const path = withMounts("true", [{ destination: "/tmp", type: "tmpfs", source: "tmpfs" }, ...others]);
    const plan = await ok(["plan", "-b", path]);
    expect(plan.match(/idmap\.open/g)).toHaveLength(2);
    expect(plan.match(/mount\.idmap/g)).toHaveLength(3);
    await run(path);
  });

  const refused: readonly (readonly [string, readonly MappedMount[], (config: Config) => void, string, string])[] = [
    [
      "idmap without any mappings",
      [bind(["idmap"])],
      () => {},
      "must have both uid and gid mappings specified",
      "or the container a user namespace",
    ],
    [
      "ridmap without any mappings",
      [bind(["ridmap"])],
      () => {},
      "must have both uid and gid mappings specified",
      "or the container a user namespace",
    ],
    ["half of the mappings", [bind(["idmap"], { uidMappings: maps(1) })], () => {}, "must be given together", "(at /mounts/6"],
    [
      "mappings that overlap",
      [bind([], { uidMappings: [...maps(1), ...maps(2)], gidMappings: maps(1) })],
      () => {},
      "overlap",
      "(at /mounts/6/uidMappings/1)",
    ],
    ["a remount", [{ destination: "/dev", options: ["remount", "idmap"], ...mapped(1) }], () => {}, "by a remount", "(at /mounts/6"],
    [
      "a filesystem without id maps",
      [{ destination: "/mnt", type: "ramfs", source: "ramfs", options: ["idmap"], ...mapped(1) }],
      () => {},
      "cannot be id-mapped on this kernel",
      "(at /mounts/6",
    ],
    [
      "a source that is not there",
      [bind(["idmap"], { source: "/no/such", ...mapped(1) })],
      () => {},
      "no such file or directory",
      "(at /mounts/6",
    ],
  ];
  test.each(refused)("%s: an error that points at it, and nothing is left", async (_, mounts, change, words, pointer) => {
    const name = id();
    const { status, stdout, stderr } = await runtime(["run", "-b", withMounts("echo ran", mounts, change), name]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toContain(words);
    expect(stderr).toContain(pointer);
    expect(existsSync(join(root, name))).toBe(false);
  });

  test("a caller without rights is refused by name", async () => {
    const path = withMounts("true", [bind(["idmap"])], (config) => {
      config.linux.namespaces.push({ type: "user" });
      config.linux.uidMappings = config.linux.gidMappings = [{ containerID: 0, hostID: 54_321, size: 1 }];
    });
    chmodSync(directory, 0o755);
    const user = ["setpriv", "--reuid", "54321", "--regid", "54321", "--clear-groups", RUNTIME, "--root", "/tmp/runt-none"];
    const { status, stderr } = await call(directory, [...user, "plan", "-b", path]);
    expect(status).toBe(1);
    expect(stderr).toContain("id-mapped mounts are not supported for rootless containers");
    expect(readdirSync("/tmp")).not.toContain("runt-none");
  });
});
