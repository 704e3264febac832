import { expect, it } from "vitest";
import { externalFiles, recordedStreams, streamKey } from "./stdio.ts";

it.each([
  ["pipe:[11]", false, "pipe:[11]"],
  ["/var/log/out", false, "file[1a:2b]"],
  ["/dev/null", false, "file[1a:2b]"],
  ["/dev/null", true, "/dev/null"],
  ["/dev/pts/0", false, "/dev/pts/0"],
  ["socket:[3]", false, "socket:[3]"],
])("%s (inside: %s) is %s", (link, inside, key) => expect(streamKey({ link, mountId: 0x1a, inode: 0x2bn, inside })).toBe(key));

it("announces each outside file once", () => {
  expect(externalFiles(["file[1:2]", "pipe:[1]", "file[1:2]", "/dev/pts/0"])).toEqual(["file[1:2]"]);
});

it("a restore has to give pipes and outside files, each once", () => {
  expect(recordedStreams(["pipe:[1]", "pipe:[1]", "file[1:2]"])).toEqual([
    { key: "pipe:[1]", number: 0, isFile: false },
    { key: "file[1:2]", number: 2, isFile: true },
  ]);
  expect(recordedStreams(["/dev/pts/0", "socket:[3]", ""])).toEqual([]);
});
