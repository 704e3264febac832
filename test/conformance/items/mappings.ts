import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import * as assert from "../assert.ts";
import type { Change } from "../context.ts";
import { group } from "../group.ts";

const UIDS = [
  { containerID: 0, hostID: 10_000, size: 1000 },
  { containerID: 1000, hostID: 50_000, size: 5 },
];
const GIDS = [{ containerID: 0, hostID: 20_000, size: 2000 }];

const userNamespace =
  (uidMappings: readonly object[] = UIDS, gidMappings: readonly object[] = GIDS): Change =>
  (config) => {
    config.linux.namespaces.push({ type: "user" });
    Object.assign(config.linux, { uidMappings, gidMappings });
  };

const withTime =
  (timeOffsets: object, path?: string): Change =>
  (config) => {
    config.linux.namespaces.push({ type: "time", ...(path !== undefined && { path }) });
    Object.assign(config.linux, { timeOffsets });
  };

const numbers = (text: string) => text.trim().split(/\s+/).map(Number);

export const mappings = group("MAP", "uid and gid mappings, time offsets", ({ must, should, may }) => {
  must(1, "the mappings are those of the user namespace", async (c) => {
    const container = await c.create(userNamespace());
    assert.deepEqual(numbers(await container.proc("uid_map")), [0, 10_000, 1000, 1000, 50_000, 5]);
    assert.deepEqual(numbers(await container.proc("gid_map")), [0, 20_000, 2000]);
    assert.match((await container.status()).get("Uid") ?? "", /^10000\s/);
  });
  should(2, "no file changes its owner because of the mappings", async (c) => {
    const rootfs = c.rootfs();
    const container = await c.create((config) => {
      userNamespace()(config);
      config.root.path = rootfs;
    });
    await container.delete("--force");
    for (const name of ["", "bin", "bin/busybox", "etc"]) assert.equal(statSync(join(rootfs, name)).uid, 0, name);
  });
  may(3, "more entries than the kernel accepts are refused", async (c) => {
    const many = Array.from({ length: 341 }, (_, index) => ({ containerID: index, hostID: 10_000 + index, size: 1 }));
    await c.refused(userNamespace(many), /^\/linux\/uidMappings/);
  });
  should(4, "mappings without a user namespace are refused", async (c) => {
    await c.refused((config) => Object.assign(config.linux, { uidMappings: UIDS, gidMappings: GIDS }), /^\/linux\/[ug]idMappings/);
  });
  should(
    5,
    "a joined user namespace keeps its mappings; others in the configuration are warned about or refused",
    async (c) => {
      const first = await c.create(userNamespace());
      const path = `/proc/${await first.pid()}/ns/user`;
      const joined =
        (uidMappings: readonly object[], gidMappings: readonly object[]): Change =>
        (config) => {
          config.linux.namespaces.push({ type: "user", path });
          Object.assign(config.linux, { uidMappings, gidMappings });
        };
      const other = [{ containerID: 0, hostID: 1, size: 1 }];
      const placeholder = [{ containerID: 0, hostID: 0, size: 1 }];
      for (const change of [
        joined(other, GIDS),
        joined(UIDS, other),
        joined(placeholder, placeholder),
        joined([...UIDS].reverse(), GIDS),
      ]) {
        const container = c.container(c.bundle(change));
        if ((await c.call(["create", "--bundle", container.bundle, container.id])).status !== 0) continue;
        assert.equal(await container.proc("uid_map"), await first.proc("uid_map"));
      }
      if (!c.isRunt) return;
      await c.refused(joined(other, GIDS), "/linux/uidMappings");
      await c.refused(joined(UIDS, other), "/linux/gidMappings");
      await c.warned(joined(placeholder, placeholder), /uidMappings/);
      await c.create(joined([...UIDS].reverse(), GIDS));
    },
    { note: "Podman writes a placeholder map for a joined namespace" },
  );
  should(6, "without rights the mappings go through newuidmap and newgidmap, or deny setgroups", async (c) => {
    execFileSync("chmod", ["0755", c.directory]);
    const root = c.scratch("rootless");
    execFileSync("chown", ["1234:1234", root]);
    const programs = c.scratch("programs");
    execFileSync("chmod", ["0755", programs]);
    // A copy: the tree may be below a directory that others cannot enter.
    const script = `install -m 0755 "$1" ${programs}; program=${programs}/$(basename "$1"); shift
      exec setpriv --reuid 1234 --regid 1234 --clear-groups unshare --user --map-root-user "$program" "$@"`;
    const bundle = c.bundle((config) => {
      config.process.args = ["/bin/cat", "/proc/self/setgroups", "/proc/self/uid_map"];
      Object.assign(config.linux, { cgroupsPath: undefined, resources: {} });
      config.linux.namespaces = config.linux.namespaces.filter(({ type }) => type !== "network" && type !== "cgroup");
      config.mounts = config.mounts.filter(({ destination }) => destination !== "/sys");
      for (const mount of config.mounts)
        if (mount.destination === "/dev/pts") mount.options = (mount.options ?? []).filter((word) => !word.startsWith("gid="));
      config.linux.namespaces.push({ type: "user" });
      const own = [{ containerID: 0, hostID: 0, size: 1 }];
      Object.assign(config.linux, { uidMappings: own, gidMappings: own });
    });
    const { stdout, stderr } = await c.shell(script, ["--root", root, "run", "--bundle", bundle, "rootless"], {
      env: { XDG_RUNTIME_DIR: root },
    });
    assert.match(stdout, /^deny\n\s+0\s+0\s+1\n/, stderr);
  });
  must(7, "time offsets are those of the new time namespace", async (c) => {
    const container = await c.create(withTime({ monotonic: { secs: 1000, nanosecs: 5 }, boottime: { secs: -1, nanosecs: 7 } }));
    assert.match(await container.proc("timens_offsets"), /^monotonic\s+1000\s+5\nboottime\s+-1\s+7\n$/);
    assert.deepEqual(numbers((await container.proc("timens_offsets")).replaceAll(/[a-z]+/g, "")), [1000, 5, -1, 7]);
  });
  must(8, "offsets need a new time namespace", async (c) => {
    const timeOffsets = { boottime: { secs: 5 } };
    await c.refused((config) => Object.assign(config.linux, { timeOffsets }), "/linux/timeOffsets");
    await c.refused(withTime(timeOffsets, "/proc/self/ns/time"), "/linux/timeOffsets");
  });
  must(9, "unknown clocks and a second's worth of nanoseconds are refused", async (c) => {
    await c.refused(withTime({ realtime: { secs: 1 } }), "/linux/timeOffsets/realtime");
    await c.refused(withTime({ boottime: { secs: 1, nanosecs: 1_000_000_000 } }), "/linux/timeOffsets/boottime/nanosecs");
  });
});
