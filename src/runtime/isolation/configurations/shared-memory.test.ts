import { expect, it } from "vitest";
import type { Spec } from "../../spec/index.ts";
import { sharedMemoryKiB } from "./shared-memory.ts";

const MOUNTS = [
  "30 1 0:5 / /run/pod/shm rw,nosuid - tmpfs shm rw,size=65536k",
  "31 1 0:6 / /dev/shm rw - tmpfs tmpfs rw,inode64",
  "32 1 0:7 / /run/over rw - tmpfs shm rw,size=65536k",
  "33 1 0:8 / /run/over rw - tmpfs shm rw,size=1024k",
  "34 1 8:1 / /srv rw - ext4 /dev/sda rw",
].join("\n");
type Mounts = NonNullable<Spec["mounts"]>;
const size = (...mounts: readonly Partial<Mounts[number]>[]) =>
  sharedMemoryKiB({ mounts: mounts.map((mount) => ({ destination: "/dev/shm", ...mount })) }, MOUNTS, (path) =>
    path.startsWith("/") ? path : `/run/${path}`,
  );
const bound = (source: string) => size({ type: "bind", source });

it("K31: is the size of the file system that the engine binds there", () => {
  expect(bound("/run/pod/shm")).toBe(65_536);
  expect(bound("pod/shm")).toBe(65_536);
  expect(size({ source: "/run/over", options: ["rbind"], destination: "/dev/shm/" })).toBe(1024);
  // Half of the host's memory, a disk, and nothing at all.
  for (const source of ["/dev/shm", "/srv", "/none"]) expect(bound(source)).toBeUndefined();
});

it.each<[string[], number | undefined]>([
  [["nosuid", "size=65536k"], 65_536],
  [["size=1048577"], 1025],
  [["size=2M"], 2048],
  [["size=1g", "size=4m"], 4096],
  [["size=50%"], undefined],
  [["size=0"], undefined],
  [[], undefined],
])("K31: is that of a tmpfs with %j", (options, expected) => {
  expect(size({ type: "tmpfs", options })).toBe(expected);
});

it("K31: is not known without a mount there, and the last one counts", () => {
  expect(sharedMemoryKiB({}, MOUNTS, String)).toBeUndefined();
  expect(size({ type: "tmpfs", options: ["size=1m"] }, { type: "tmpfs", options: ["size=2m"] })).toBe(2048);
});
