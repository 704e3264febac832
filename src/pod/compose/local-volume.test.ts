import { expect, test } from "vitest";
import { one, only, read, told } from "../../../test/support/engine/compose-file.ts";

/** Docker, "docker volume create", options of the driver local. */
test("a volume that is bound to a directory of the host is that, and one in memory is of one container", () => {
  const text = (options: string, fields = "") =>
    `${one(`    volumes: ['d:/d']\n${fields}`)}volumes: { d: { driver: local, driver_opts: ${options} } }\n`;
  expect(only(text("{ type: none, o: bind, device: ./data }"))).toMatchObject({
    volumes: [],
    containers: [{ mounts: [{ source: "/srv/app/data", target: "/d", readOnly: false }] }],
  });
  expect(only(text("{ o: 'bind,ro', device: /data }")).containers[0]!.mounts).toMatchObject([{ source: "/data", readOnly: true }]);
  expect(only(text("{ type: tmpfs, device: tmpfs, o: size=2m }")).volumes).toEqual([
    { name: "d", medium: "memory", size: 2 * 1024 * 1024 },
  ]);
  expect(only(text("{}")).volumes).toEqual([{ name: "d", kept: "d" }]);
  expect(told(text("{ type: tmpfs, device: tmpfs }", "    scale: 2\n"))).toEqual([
    expect.stringContaining("what is in memory is of one container"),
  ]);
  expect(told(text("{ o: 'bind,uid=5', device: /x }"))).toEqual([expect.stringContaining("o: only bind and ro are supported, not uid=5")]);
  expect(told(text("{ type: none, o: bind }"))).toEqual([expect.stringContaining("driver_opts: needs the device")]);
  expect(told(text("{ size: 5 }"))).toEqual([expect.stringContaining("size: only type, o and device are supported")]);
});

/** The kernel mounts it: moby, volume/local/local_unix.go. */
test("a volume of another file system is mounted by the engine, for each task that uses it", () => {
  const text = (options: string, mount = "'d:/d:ro'", fields = "") =>
    `${one(`    volumes: [${mount}]\n${fields}`)}volumes: { d: { driver: local, driver_opts: ${options} } }\n`;
  const nfs = "{ type: nfs, o: 'addr=nas.test,nolock,soft', device: ':/srv/data' }";
  expect(only(text(nfs))).toMatchObject({
    volumes: [{ name: "d", filesystem: { type: "nfs", device: ":/srv/data", options: "addr=nas.test,nolock,soft" } }],
    containers: [{ mounts: [{ volume: "d", target: "/d", readOnly: true }] }],
  });
  expect(read(text(nfs, "'d:/d'", "    scale: 2\n")).findings).toEqual([]);
  expect(only(text("{ type: ext4, device: /dev/sdb1 }")).volumes).toEqual([
    { name: "d", filesystem: { type: "ext4", device: "/dev/sdb1" } },
  ]);
  expect(told(text("{ type: cifs, o: 'username=u' }"))).toEqual([expect.stringContaining("needs the device, which cifs is mounted from")]);
  expect(told(text("{ o: size=5m, device: /x }"))).toEqual([expect.stringContaining("needs o: bind, or the type of a file system")]);
  expect(told(text("{ type: 'a b', device: /x }"))).toEqual([expect.stringContaining("type: is no type of a file system")]);
  expect(told(text(nfs, "{ type: volume, source: d, target: /d, volume: { subpath: a } }"))).toEqual([
    expect.stringContaining("/services/web/volumes/0/volume/subpath: a part of a file system cannot be mounted: name it in device"),
  ]);
});
