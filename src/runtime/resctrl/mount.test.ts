import { expect, it } from "vitest";
import { findResctrl } from "./mount.ts";

const line = (place: string, type = "resctrl", root = "/") =>
  `36 25 0:31 ${root} ${place} rw,relatime shared:9 - ${type} ${type} rw,mba_MBps\n`;

it("finds where resctrl is mounted, at its usual place first", () => {
  expect(findResctrl("")).toBeUndefined();
  expect(findResctrl(line("/sys/fs/resctrl", "tmpfs"))).toBeUndefined();
  expect(findResctrl(line("/mnt/resctrl", "xfs") + line("/a\\040b"))).toBe("/a b");
  expect(findResctrl(line("/a") + line("/sys/fs/resctrl") + line("/b"))).toBe("/sys/fs/resctrl");
});

it("passes a bound group over: not everything is there", () => {
  expect(findResctrl(line("/sys/fs/resctrl", "resctrl", "/group"))).toBeUndefined();
});
