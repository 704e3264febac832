import { describe, expect, it } from "vitest";
import { MOUNT_ATTR, MS } from "../../shared/linux/index.ts";
import { parseMountOptions } from "./mount-option-list.ts";
import { MOUNT_OPTIONS, supportedMountOptions } from "./mount-options.ts";

const { RDONLY, NOSUID, NODEV, NOEXEC, ATIME, NOATIME, STRICTATIME, NODIRATIME, NOSYMFOLLOW } = MOUNT_ATTR;

const options = (...list: string[]) => parseMountOptions(list, "/mounts/0", () => {});
const attributes = (...list: string[]) => options(...list).attributes;

describe("the option table", () => {
  it.each([
    ["ro", RDONLY, 0n],
    ["rw", 0n, RDONLY],
    ["nosuid", NOSUID, 0n],
    ["suid", 0n, NOSUID],
    ["nodev", NODEV, 0n],
    ["dev", 0n, NODEV],
    ["noexec", NOEXEC, 0n],
    ["exec", 0n, NOEXEC],
    ["nodiratime", NODIRATIME, 0n],
    ["diratime", 0n, NODIRATIME],
    ["nosymfollow", NOSYMFOLLOW, 0n],
    ["symfollow", 0n, NOSYMFOLLOW],
    ["noatime", NOATIME, ATIME],
    ["atime", 0n, ATIME],
    ["strictatime", STRICTATIME, ATIME],
    ["nostrictatime", 0n, ATIME],
    ["relatime", 0n, ATIME],
    ["norelatime", 0n, ATIME],
  ])("%s and its recursive form", (name, set, clear) => {
    expect(attributes(name)).toMatchObject({ attrSet: set, attrClear: clear, recursiveSet: 0n, recursiveClear: 0n });
    expect(attributes(`r${name}`)).toMatchObject({ attrSet: 0n, attrClear: 0n, recursiveSet: set, recursiveClear: clear });
  });

  it.each([
    ["sync", "async", MS.SYNCHRONOUS],
    ["mand", "nomand", MS.MANDLOCK],
    ["silent", "loud", MS.SILENT],
    ["iversion", "noiversion", MS.I_VERSION],
    ["lazytime", "nolazytime", MS.LAZYTIME],
    ["ro", "rw", MS.RDONLY],
  ])("%s and %s are flags of the superblock", (on, off, flag) => {
    expect(options(on)).toMatchObject({ superFlags: BigInt(flag), superTouched: true, data: [] });
    expect(options(on, off)).toMatchObject({ superFlags: 0n, superTouched: true });
  });

  it.each([
    ["shared", MS.SHARED],
    ["slave", MS.SLAVE],
    ["private", MS.PRIVATE],
    ["unbindable", MS.UNBINDABLE],
  ])("%s, alone and recursive", (name, flag) => {
    expect(attributes(name).propagation).toEqual([flag]);
    expect(attributes(`r${name}`, name).propagation).toEqual([flag | MS.REC, flag]);
  });

  it.each([
    ["rsync", "sync"],
    ["rasync", "async"],
    ["rdirsync", "dirsync"],
    ["rmand", "mand"],
    ["rnomand", "nomand"],
  ])("%s of crun means %s", (recursive, plain) => {
    expect(options("sync", "mand", recursive)).toEqual(options("sync", "mand", plain));
  });

  it.each([
    ["user", NOSUID | NODEV | NOEXEC],
    ["users", NOSUID | NODEV | NOEXEC],
    ["owner", NOSUID | NODEV],
    ["group", NOSUID | NODEV],
  ])("%s of mount(8) trusts nothing, and is not listed", (name, bits) => {
    expect(options(name)).toMatchObject({ attributes: { attrSet: bits }, data: [] });
    expect(attributes(name, "exec", "suid").attrSet).toBe(NODEV);
    expect(supportedMountOptions()).not.toContain(name);
  });

  it.each([
    ["idmap", false, ""],
    ["ridmap", true, ""],
    ["idmap=", false, ""],
    ["ridmap=uids=0-1-1;gids=0-1-1", true, "uids=0-1-1;gids=0-1-1"],
  ])("%s is never data", (name, recursive, value) => {
    expect(options("ro", name)).toMatchObject({ idmap: { at: "/mounts/0/options/1", recursive, value }, data: [] });
  });

  it("lets the last of idmap and ridmap win", () => {
    expect(options("ridmap", "idmap").idmap).toMatchObject({ recursive: false });
  });

  it("has a whole entry for every name", () => {
    for (const [name, option] of MOUNT_OPTIONS) if (name !== "defaults") expect(Object.keys(option), name).not.toHaveLength(0);
  });
});

describe("option lists", () => {
  it("lets the later of two options win", () => {
    expect(attributes("ro", "rw")).toMatchObject({ attrSet: 0n, attrClear: RDONLY });
    expect(attributes("rw", "ro")).toMatchObject({ attrSet: RDONLY, attrClear: 0n });
    expect(attributes("noatime", "strictatime").attrSet).toBe(STRICTATIME);
    expect(attributes("strictatime", "relatime").attrSet).toBe(0n);
  });

  it("takes back only what an option names", () => {
    expect(attributes("strictatime", "atime").attrSet).toBe(STRICTATIME);
    expect(attributes("noatime", "atime").attrSet).toBe(0n);
  });

  it("keeps the access time mask cleared whatever is set later", () => {
    expect(attributes("noatime", "nosuid")).toMatchObject({ attrSet: NOATIME | NOSUID, attrClear: ATIME });
  });

  it("hands unknown options to the filesystem, in order", () => {
    expect(options("size=64k", "nosuid", "mode=700", "defaults").data).toEqual(["size=64k", "mode=700"]);
  });
});
