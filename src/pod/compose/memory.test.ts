import { expect, test } from "vitest";
import { one, only, told } from "../../../test/support/engine/compose-file.ts";

/** Compose specification, "tmpfs", "volumes" with type tmpfs. */
test("directories in memory, with a size", () => {
  const { volumes, containers } = only(
    one('    tmpfs: ["/run:size=64m,mode=1777", /tmp]\n    volumes: [{ type: tmpfs, target: /cache, tmpfs: { size: 1m } }]\n'),
  );
  expect(volumes).toEqual([
    { name: "memory-0", medium: "memory", size: 2 ** 20 },
    { name: "tmpfs-0", medium: "memory", size: 2 ** 26, mode: 0o1777 },
    { name: "tmpfs-1", medium: "memory" },
  ]);
  expect(containers[0]!.mounts.map(({ volume, target }) => [volume, target])).toEqual([
    ["memory-0", "/cache"],
    ["tmpfs-0", "/run"],
    ["tmpfs-1", "/tmp"],
  ]);
  const mounted = (options: string) => {
    const { volumes, containers } = only(one(`    tmpfs: ["/run:${options}"]\n`));
    return { ...volumes[0], ...containers[0]!.mounts[0] };
  };
  expect(mounted("rw,noexec,nosuid,nodev,size=65536K")).toEqual({
    name: "tmpfs-0",
    medium: "memory",
    size: 2 ** 26,
    volume: "tmpfs-0",
    target: "/run",
    readOnly: false,
    noExec: true,
  });
  expect(mounted("ro,mode=1777,uid=5,gid=06,uid=7")).toEqual({
    name: "tmpfs-0",
    medium: "memory",
    mode: 0o1777,
    user: 7,
    group: 6,
    volume: "tmpfs-0",
    target: "/run",
    readOnly: true,
  });
  const ofMode = (mode: string) => one(`    volumes: [{ type: tmpfs, target: /run, tmpfs: { mode: ${mode} } }]\n`);
  for (const mode of ["0o700", "448"]) expect(only(ofMode(mode)).volumes).toEqual([{ name: "memory-0", medium: "memory", mode: 0o700 }]);
  expect(told(ofMode("7777"))).toEqual([expect.stringContaining("7777 is no mode: it is a decimal number, and 07777 is octal")]);
  expect(told(one("    tmpfs: [/run:mode=77777]\n"))).toEqual([expect.stringContaining("not mode=77777")]);
  expect(told(one("    tmpfs: [/run:huge=always]\n"))).toEqual([
    "f:5:13: /services/web/tmpfs/0: only size, mode, uid, gid, ro, rw, noexec, nosuid and nodev are supported, not huge=always",
  ]);
});
