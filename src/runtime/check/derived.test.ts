import { expect, it, test } from "vitest";
import { cpuList } from "../config/index.ts";
import { checkKernelList, examineDerivation } from "./derived.ts";

const found = (...mounts: readonly object[]) =>
  examineDerivation({ ociVersion: "1.3.0", mounts: mounts as { destination: string }[] }, "/bundle", false).findings.map(
    ({ code, pointer }) => `${code} ${pointer}`,
  );

it("looks at a mount of which only the paths are like those of one before, and at each that has something of its own", () => {
  const sound = { destination: "/a", source: "/s", type: "bind", options: ["bind", "ro"] };
  expect(found(sound, { ...sound, destination: "/b" })).toEqual([]);
  expect(found(sound, { ...sound, destination: "b" })).toEqual(["mount-destination-relative /mounts/1/destination"]);
  expect(found(sound, { ...sound, source: "" })).toEqual(["mount-source-empty /mounts/1"]);
  const implied = { ...sound, options: ["ro"] };
  expect(found(implied, implied)).toEqual(["mount-bind-implied /mounts/0/type", "mount-bind-implied /mounts/1/type"]);
  // A type that is called as what is absent is printed.
  const { type: _type, ...untyped } = { ...implied, type: "undefined" };
  expect(found({ ...implied, type: "undefined" }, untyped)).toEqual(["mount-type-missing /mounts/1"]);
});

const check = (text: string) => () => checkKernelList(text, "/x", cpuList);

// Each was written to cpuset.cpus of Linux 6.18.
test.each(["", "0", "0-3,7", "all", "N", "0-N", "0 1", ",0,,1,", "0-1:1/2", "all:1/2", "0,N"])("%j is a list of the kernel's", (text) => {
  expect(check(text)).not.toThrow();
});

test.each([",", "every", "0x1", "-1", "3-1", "1-", "0;1", "0-1:1", "0-1:1/0", "n", "9999"])("%j is none", (text) => {
  expect(check(text)).toThrow(/is not a list/);
});
