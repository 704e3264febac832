import { describe, expect, it } from "vitest";
import { parseMountinfo } from "../../shared/linux/index.ts";
import { externalMounts, idMappedMounts, requireReadableNames, requireReadableTable } from "./mounts.ts";

const HOST_DISK = "8:1";
const CONTAINER = parseMountinfo(`\
100 99 ${HOST_DISK} /bundles/web/rootfs / rw,relatime - ext4 /dev/sda1 rw
101 100 0:50 / /proc rw,nosuid - proc proc rw
102 100 0:51 / /dev rw,nosuid - tmpfs tmpfs rw
103 102 0:52 / /dev/pts rw - devpts devpts rw
104 102 0:52 /0 /dev/console rw - devpts devpts rw
105 100 0:22 / /sys ro - sysfs sysfs rw
106 101 0:50 /sys /proc/sys ro - proc proc rw
107 101 0:5 /null /proc/kcore rw - devtmpfs dev rw
108 102 0:5 /tty /dev/tty rw - devtmpfs dev rw
109 100 ${HOST_DISK} /srv/my\\040data /data rw,idmapped shared:1 - ext4 /dev/sda1 rw
110 109 ${HOST_DISK} /srv/my\\040data/part /data/part ro - ext4 /dev/sda1 rw
111 100 ${HOST_DISK} /bundles/web/rootfs/etc /etc ro - ext4 /dev/sda1 rw
112 100 0:60 / /shm rw - tmpfs tmpfs rw
113 105 0:30 /runt/web /sys/fs/cgroup/memory ro - cgroup cgroup rw,memory
114 105 0:31 / /sys/fs/cgroup/unified ro - cgroup2 cgroup rw
115 101 0:61 / /proc/acpi ro - tmpfs tmpfs ro
`);
const FACTS = {
  container: CONTAINER,
  hostDevices: new Set([HOST_DISK, "0:5", "0:22", "0:30", "0:31", "0:60"]),
  bound: new Set<string>(),
  masked: new Set<string>(),
};

describe("mounts from outside", () => {
  it("are found in the mount table, with the names that runc gives them", () => {
    expect(externalMounts({ ...FACTS, cgroupNamespace: true })).toEqual([
      { key: "/proc/kcore", value: "/dev/null" },
      { key: "/dev/tty", value: "/dev/tty" },
      { key: "/data", value: "/data" },
      { key: "/shm", value: "/shm" },
    ]);
  });

  it("are masked files where the host's /dev/null is on any filesystem, and no other file of that name", () => {
    const container = parseMountinfo(`\
100 99 8:1 /rootfs / rw - ext4 /dev/sda1 rw
101 100 0:50 / /proc rw - proc proc rw
102 101 0:60 /null /proc/kcore rw - tmpfs tmpfs rw
103 101 0:61 /dev/null /proc/keys rw - overlay overlay rw
104 100 0:62 /null /data rw - tmpfs tmpfs rw
`);
    const masked = new Set(["/proc/kcore", "/proc/keys"]);
    const hostDevices = new Set(["8:1", "0:60", "0:61", "0:62"]);
    expect(externalMounts({ container, hostDevices, masked, bound: new Set(), cgroupNamespace: false })).toEqual([
      { key: "/proc/kcore", value: "/dev/null" },
      { key: "/proc/keys", value: "/dev/null" },
      { key: "/data", value: "/data" },
    ]);
  });

  it("include v1 cgroups that the container sees from outside", () => {
    expect(externalMounts({ ...FACTS, cgroupNamespace: false })).toContainEqual({
      key: "/sys/fs/cgroup/memory",
      value: "/sys/fs/cgroup/memory",
    });
  });

  it("include whatever config.json binds", () => {
    const found = externalMounts({ ...FACTS, cgroupNamespace: true, bound: new Set(["/proc", "/data/part"]) });
    expect(found.map(({ key }) => key)).toEqual(["/proc", "/proc/kcore", "/dev/tty", "/data", "/data/part", "/shm"]);
  });
});

it("finds mapped ids", () => expect(idMappedMounts(CONTAINER)).toEqual(["/data"]));

/** What criu 3.0 to 4.2 does: one text a mount, found by the beginning of it (criu/mount.c, criu/external.c). */
function lookup(mounts: readonly { key: string; value: string }[], name: string): string | undefined {
  const beginning = `mnt[${name}]`;
  const found = mounts.map(({ key, value }) => `mnt[${key}]:${value}`).find((text) => text.startsWith(`${beginning}:`));
  return found?.slice(beginning.length + 1);
}

const MOUNTS = [
  { key: "/data", value: "/srv/data" },
  { key: "/data]", value: "/srv/bracket" },
  { key: "/a[1]", value: "/srv/[x]" },
  { key: "/with:colon", value: "/srv/with:colon" },
];

describe("names of external mounts", () => {
  it("that criu finds again are taken", () => {
    expect(requireReadableNames(MOUNTS)).toBe(MOUNTS);
    for (const { key, value } of MOUNTS) expect(lookup(MOUNTS, key)).toBe(value);
  });

  it.each(["/data]:/etc", "/]:", "/a]:b/c", "/line\nbreak", "/data\rx", "/data\vx"])("%j is refused, and named", (key) => {
    const mounts = [{ key, value: "/srv/data" }];
    expect(() => requireReadableNames(mounts)).toThrow(`criu cannot keep the mount point ${JSON.stringify(key)}`);
  });

  it("would be split by criu if they were not refused", () => {
    expect(lookup([{ key: "/data]:/etc", value: "/srv/data" }], "/data")).toBe("/etc]:/srv/data");
    expect(lookup([{ key: "/data", value: "/srv]:/etc" }], "/data]:/srv")).toBe("/etc");
  });

  it("a source that would be split is refused as well", () => {
    expect(() => requireReadableNames([{ key: "/data", value: "/srv]:/etc" }])).toThrow('"/data": its source "/srv]:/etc"');
  });
});

it("a mount table with a name that ends early for criu is refused, also where the mount is the container's own", () => {
  const line = (mountpoint: string) => parseMountinfo(`100 99 0:50 / ${mountpoint} rw - tmpfs tmpfs rw\n`);
  expect(() => requireReadableTable(line("/data]:x"))).not.toThrow();
  expect(() => requireReadableTable(line("/data\rrw"))).toThrow('"/data\\rrw"');
  expect(() => requireReadableTable(line("/data\\012x"))).toThrow('"/data\\nx"');
});
