import { expect, test } from "vitest";
import { decodeMountPath, parseMountinfo } from "./mountinfo.ts";

test("a mount with optional fields, and one without", () => {
  const text =
    "36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 shared:2 - ext3 /dev/root rw,errors=continue\n27 1 254:0 / / ro - tmpfs none rw\n";
  expect(parseMountinfo(text)).toEqual([
    {
      ...{ id: "36", parent: "35", device: "98:0", root: "/mnt1", point: "/mnt2", options: ["rw", "noatime"] },
      ...{ type: "ext3", source: "/dev/root", ofFilesystem: ["rw", "errors=continue"] },
    },
    {
      ...{ id: "27", parent: "1", device: "254:0", root: "/", point: "/", options: ["ro"] },
      ...{ type: "tmpfs", source: "none", ofFilesystem: ["rw"] },
    },
  ]);
});

test("space, tab, newline and backslash in names", () => {
  const name = "/a\\040b\\011c\\012d\\134e";
  const [mount] = parseMountinfo(`1 2 0:3 ${name} ${name} rw - ext4 ${name} rw\n`);
  expect([mount?.root, mount?.point, mount?.source]).toEqual(Array(3).fill("/a b\tc\nd\\e"));
  // What looks like an escape after it was decoded is none, and neither is one with other digits.
  expect(["/\\134040", "/\\9", "/\\04", "/ö"].map(decodeMountPath)).toEqual(["/\\040", "/\\9", "/\\04", "/ö"]);
  expect(parseMountinfo("50 1 0:40 / /srv/a\\040-\\040cgroup rw - ext4 /dev/vdb rw")[0]).toMatchObject({
    point: "/srv/a - cgroup",
    type: "ext4",
  });
});

test("lines that are not whole are left out", () => {
  expect(parseMountinfo("\n1 2 0:3 / /a rw\n1 2 0:3 / - ext4 x rw\n1 2 0:3 / /a rw - ext4\n - \nx")).toEqual([]);
});
