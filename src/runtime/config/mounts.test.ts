import { describe, expect, it } from "vitest";
import { MOUNT_ATTR, MS } from "../../shared/linux/index.ts";
import { RuntError } from "../errors/index.ts";
import type { SpecMount } from "../spec/index.ts";
import { deriveMount } from "./mounts.ts";
import type { Warning } from "./warnings.ts";

const { RDONLY, NOSUID, NODEV, NOEXEC, ATIME, NOATIME, STRICTATIME, NODIRATIME, NOSYMFOLLOW } = MOUNT_ATTR;

const PLAIN = RDONLY | NOSUID | NODEV | NOEXEC | NOSYMFOLLOW;

const NO_IDS = { userNamespace: undefined, uidMappings: [], gidMappings: [] };

function derive(mount: SpecMount) {
  const warnings: Warning[] = [];
  const place = { bundle: "/bundle", ids: NO_IDS };
  const config = deriveMount(mount, 2, place, (code, pointer, message) => warnings.push({ code, pointer, message }));
  return { config, warnings, codes: warnings.map(({ code }) => code) };
}

function refusal(mount: SpecMount): RuntError {
  try {
    derive(mount);
  } catch (error) {
    if (error instanceof RuntError) return error;
    throw error;
  }
  throw new Error("accepted");
}

describe("deriveMount", () => {
  it("makes a filesystem mount", () => {
    expect(
      derive({ destination: "/dev", type: "tmpfs", source: "tmpfs", options: ["nosuid", "strictatime", "mode=755", "size=65536k"] }).config,
    ).toEqual({
      kind: "filesystem",
      from: "/mounts/2",
      target: "/dev",
      fstype: "tmpfs",
      source: "tmpfs",
      data: ["mode=755", "size=65536k"],
      superFlags: 0n,
      attrSet: NOSUID | STRICTATIME,
      attrClear: ATIME,
      recursiveSet: 0n,
      recursiveClear: 0n,
      propagation: [],
      copyUp: false,
    });
  });

  it("a devpts without a list of options is the usual one", () => {
    const devpts: SpecMount = { destination: "/dev/pts", type: "devpts", source: "devpts" };
    const usual = ["newinstance", "ptmxmode=0666", "mode=0620", "gid=5"];
    expect(derive(devpts).config).toMatchObject({ data: usual, attrSet: NOSUID | NOEXEC });
    // An empty list, and one that leaves something out, is a list: the rest is what the kernel does.
    expect(derive({ ...devpts, options: [] }).config).toMatchObject({ data: [], attrSet: 0n });
    expect(derive({ ...devpts, options: ["newinstance"] }).config).toMatchObject({ data: ["newinstance"] });
    expect(derive({ ...devpts, destination: "/other" }).config).toMatchObject({ data: [], attrSet: 0n });
    expect(derive({ ...devpts, type: "tmpfs" }).config).toMatchObject({ data: [], attrSet: 0n });
  });

  it.each([
    ["a new user namespace without the group tty", { type: "user", from: "" }, 5, false],
    ["a new one with it", { type: "user", from: "" }, 6, true],
    ["one that is joined", { type: "user", from: "", path: "/proc/1/ns/user" }, 0, true],
  ] as const)("a devpts without a list of options in %s", (_, userNamespace, size, hasGroup) => {
    const gidMappings = size === 0 ? [] : [{ containerId: 0, hostId: 100_000, size }];
    const place = { bundle: "/bundle", ids: { ...NO_IDS, userNamespace, gidMappings } };
    const config = deriveMount({ destination: "/dev/pts", type: "devpts" }, 0, place, () => {});
    expect("data" in config && config.data.includes("gid=5")).toBe(hasGroup);
  });

  it("copies up into a tmpfs, and into nothing else", () => {
    expect(derive({ destination: "/x", type: "tmpfs", source: "tmpfs", options: ["tmpcopyup"] }).config).toMatchObject({
      copyUp: true,
      data: [],
    });
    const others: SpecMount[] = [
      { destination: "/x", type: "mqueue", source: "m" },
      { destination: "/x", type: "cgroup", source: "c" },
      { destination: "/x", type: "bind", source: "/y" },
      { destination: "/x", options: ["remount"] },
    ];
    for (const mount of others) {
      const error = refusal({ ...mount, options: [...(mount.options ?? []), "tmpcopyup"] });
      expect([error.code, error.message]).toEqual(["config-invalid", 'mount of "/x": tmpcopyup is for tmpfs only']);
    }
  });

  it("binds when the options say so, whatever the type", () => {
    for (const type of ["none", "bind", "ext4", "", null, undefined]) {
      const { config, codes } = derive({ destination: "/x", source: "/src", options: ["bind", "ro"], ...(type !== undefined && { type }) });
      expect(config).toMatchObject({ kind: "bind", source: "/src", recursive: false, attrSet: RDONLY });
      expect(codes).toEqual([]);
    }
    expect(derive({ destination: "/x", source: "/src", options: ["rbind", "bind"] }).config).toMatchObject({
      kind: "bind",
      recursive: true,
    });
  });

  it("takes relative bind sources from the bundle and leaves absolute ones alone", () => {
    expect(derive({ destination: "/x", source: "data/../y", options: ["bind"] }).config).toMatchObject({ source: "/bundle/data/../y" });
    expect(derive({ destination: "/x", source: "/link/../y", options: ["bind"] }).config).toMatchObject({ source: "/link/../y" });
  });

  it("takes type bind without the option as a bind, with a warning", () => {
    const { config, codes } = derive({ destination: "/x", source: "/src", type: "bind" });
    expect(config).toMatchObject({ kind: "bind", recursive: false });
    expect(codes).toEqual(["mount-bind-implied"]);
  });

  it("takes data on a bind with a warning, and nothing of it", () => {
    const { config, warnings } = derive({ destination: "/x", source: "/src", options: ["bind", "size=1k", "ro"] });
    expect(config).toMatchObject({ kind: "bind", attrSet: RDONLY });
    expect(config).not.toHaveProperty("data");
    expect(warnings).toMatchObject([
      { code: "mount-bind-data", pointer: "/mounts/2/options", message: expect.stringContaining('"size=1k"') },
    ]);
  });

  it.each<[string, readonly string[], Partial<Record<"attrSet" | "attrClear" | "attrDrop", bigint>>]>([
    ["no word for a flag keeps those of the source", ["rprivate", "rro"], { attrSet: 0n, attrClear: 0n, attrDrop: 0n }],
    ["a flag is there alone", ["nosuid"], { attrSet: NOSUID, attrClear: 0n, attrDrop: PLAIN & ~NOSUID }],
    ["a flag that is taken back is named", ["ro", "rw"], { attrSet: 0n, attrClear: RDONLY, attrDrop: PLAIN & ~RDONLY }],
    ["a flag of the superblock counts", ["sync"], { attrSet: 0n, attrClear: 0n, attrDrop: PLAIN }],
    ["an access time names all of them", ["noatime"], { attrSet: NOATIME, attrClear: ATIME | NODIRATIME, attrDrop: PLAIN }],
    ["relatime is one", ["relatime"], { attrSet: 0n, attrClear: ATIME | NODIRATIME }],
    ["so is nodiratime", ["nodiratime", "strictatime"], { attrSet: NODIRATIME | STRICTATIME, attrClear: ATIME }],
    ["one that is taken back stays what it was", ["atime", "diratime"], { attrSet: 0n, attrClear: 0n, attrDrop: PLAIN }],
    ["also after it was asked for", ["strictatime", "nostrictatime"], { attrSet: 0n, attrClear: 0n }],
  ])("flags of a bind: %s", (_, words, expected) => {
    expect(derive({ destination: "/x", source: "/src", options: ["bind", ...words] }).config).toMatchObject(expected);
  });

  it("warns about superblock options on a bind", () => {
    expect(derive({ destination: "/x", source: "/src", options: ["bind", "sync"] }).codes).toEqual(["mount-option-ignored"]);
    expect(derive({ destination: "/x", source: "/src", options: ["bind", "ro"] }).codes).toEqual([]);
  });

  it.each(["cgroup", "cgroup2"])("knows type %s", (type) => {
    expect(derive({ destination: "/sys/fs/cgroup", type, source: "cgroup", options: ["ro", "nosuid"] }).config).toMatchObject({
      kind: "cgroup",
      attrSet: RDONLY | NOSUID,
    });
    const { config, codes } = derive({ destination: "/sys/fs/cgroup", type, options: ["nsdelegate", "memory"] });
    expect(config).toMatchObject({ data: ["nsdelegate", "memory"] });
    expect(codes).toEqual(["mount-data-ignored"]);
  });

  it("remounts the superblock only when it is meant", () => {
    expect(derive({ destination: "/x", options: ["remount", "ro"] }).config).toMatchObject({
      kind: "remount",
      superblock: true,
      superFlags: BigInt(MS.RDONLY),
    });
    expect(derive({ destination: "/x", options: ["remount", "nosuid"] }).config).toMatchObject({ kind: "remount", superblock: false });
    expect(derive({ destination: "/x", options: ["remount", "bind", "ro"] }).config).toMatchObject({
      superblock: false,
      superFlags: 0n,
      attrSet: RDONLY,
    });
    expect(derive({ destination: "/x", options: ["remount", "size=1m"] }).config).toMatchObject({ superblock: true, data: ["size=1m"] });
  });

  it("puts a relative destination below the root, with a warning", () => {
    const { config, codes } = derive({ destination: "data", type: "tmpfs" });
    expect(config).toMatchObject({ target: "/data", source: "none" });
    expect(codes).toEqual(["mount-destination-relative"]);
  });

  it("ignores words of mount(8), with a warning", () => {
    const { config, codes } = derive({ destination: "/x", type: "tmpfs", options: ["noauto", "x-systemd.automount", "comment=a"] });
    expect(config).toMatchObject({ data: [] });
    expect(codes).toEqual(["mount-option-ignored", "mount-option-ignored", "mount-option-ignored"]);
  });

  it("refuses what it cannot make", () => {
    expect(refusal({ destination: "/x" }).message).toContain("needs a type");
    expect(refusal({ destination: "/x", options: ["bind"] }).message).toContain("needs a source");
  });

  it("knows crun's words about symlinks, for binds", () => {
    const bind = (...words: string[]) => derive({ destination: "/x", source: "/src", options: ["bind", ...words] }).config;
    expect(bind("copy-symlink")).toMatchObject({ sourceLink: "copy" });
    expect(bind("src-nofollow", "dest-nofollow")).toMatchObject({ sourceLink: "bind", onLink: true });
    expect(bind()).not.toHaveProperty("sourceLink");
    expect(bind("src-nofollow=2049:77")).toMatchObject({ sourceLink: "bind", sourceIdentity: { device: 2049n, inode: 77n } });
    for (const word of ["src-nofollow=", "src-nofollow=1", "src-nofollow=1:0", "src-nofollow=1:99999999999999999999", "src-nofollow=a:b"])
      expect(bind(word)).not.toHaveProperty("sourceLink");
    for (const word of ["src-nofollow", "dest-nofollow"]) {
      const error = refusal({ destination: "/x", source: "/src", options: ["bind", "copy-symlink", word] });
      expect(error.message).toContain("copy-symlink is mutually exclusive");
    }
    for (const mount of [{ type: "tmpfs" }, { type: "cgroup" }, { options: ["remount"] }]) {
      for (const word of ["copy-symlink", "src-nofollow", "dest-nofollow"]) {
        const error = refusal({ destination: "/x", ...mount, options: [...(mount.options ?? []), word] });
        expect([error.code, error.message]).toEqual(["config-invalid", expect.stringContaining("are for bind mounts only")]);
      }
    }
  });
});
