import { expect, test } from "vitest";
import { deviceOf, hostDevices, ownCapabilities } from "./privileged.ts";

const info = (type: "c" | "b" | "-", rdev: number) => ({
  ...{ rdev, mode: 0o20640, uid: 3, gid: 4 },
  isCharacterDevice: () => type === "c",
  isBlockDevice: () => type === "b",
});

test("the capabilities of a process are the bits of its effective set", () => {
  const status = (bits: string) => `Name:\tnode\nCapPrm:\t000001ffffffffff\nCapEff:\t${bits}\nSeccomp:\t0\n`;
  expect(ownCapabilities(status("0000000000000000"))).toEqual([]);
  expect(ownCapabilities(status("0000010000000401"))).toEqual(["CAP_CHOWN", "CAP_NET_BIND_SERVICE", "CAP_CHECKPOINT_RESTORE"]);
  const all = ownCapabilities(status("000001ffffffffff"));
  const without = ownCapabilities(status("000001fffeffffff"));
  expect(all.filter((name) => !without.includes(name))).toEqual(["CAP_SYS_RESOURCE"]);
});

/** makedev(3) of glibc: 12 and 20 bits of each number are apart. */
test.each([
  ["c", 0x0000_0103, 1, 3],
  ["b", 0x0000_0700, 7, 0],
  ["c", 0x0000_8808, 136, 8],
  ["c", 0x1230_0a45, 10, 0x1_2345],
  ["b", 0x0000_1000_0000_0000, 0x1000, 0],
] as const)("%s %d is major %d, minor %d", (type, rdev, major, minor) => {
  expect(deviceOf(info(type, rdev))).toEqual({ type, major, minor, fileMode: 0o640, uid: 3, gid: 4 });
});

test("files, and what an overlay has removed, are no devices", () => {
  expect([deviceOf(info("-", 0)), deviceOf(info("c", 0))]).toEqual([undefined, undefined]);
});

test("each container has its own terminals, console and standard devices", () => {
  const paths = hostDevices("/dev").map(({ path }) => path);
  for (const own of ["/dev/null", "/dev/ptmx", "/dev/console", "/dev/pts/0", "/dev/shm", "/dev/fd"]) expect(paths).not.toContain(own);
});
