import { expect, it, vi } from "vitest";
import { openContainerRoot } from "./container-root.ts";

const opened: string[] = [];
let startTime: bigint | undefined = 5n;

vi.mock("../host/index.ts", () => ({
  O: { PATH: 0, DIRECTORY: 0, NOFOLLOW: 0, RDONLY: 0 },
  open: (path: string) => opened.push(path) + 10,
  procStat: () => (startTime === undefined ? undefined : { startTime }),
}));

const seen = (init: Parameters<typeof openContainerRoot>[0]) => {
  opened.splice(0);
  return openContainerRoot(init, "/rootfs");
};

it("looks into the process that began when init did, by its directory, and into no other one that has its number", () => {
  expect(seen({ pid: 7, startTime: "5" })).toEqual({ root: 13, proc: "/proc/self/fd/11" });
  expect(opened).toEqual(["/proc/7", "/proc/self/fd/11/ns/mnt", "/proc/self/fd/11/root"]);
  startTime = 6n;
  expect(seen({ pid: 7, startTime: "5" })).toBeUndefined();
  expect(opened).toEqual(["/proc/7"]);
  startTime = undefined;
  expect(seen({ pid: 7, startTime: "5" })).toBeUndefined();
});

it("takes the number of a child that nobody has waited for, and without init the root filesystem", () => {
  expect(seen({ pid: 7, startTime: undefined })?.proc).toBe("/proc/self/fd/11");
  expect(seen({ pid: 0, startTime: undefined })).toEqual({ root: 11, proc: "/proc/self" });
  expect(opened).toEqual(["/rootfs"]);
});
