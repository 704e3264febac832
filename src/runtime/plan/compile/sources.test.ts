import { describe, expect, it } from "vitest";
import { CREATE } from "../../../shared/protocol/index.ts";
import { deriveConfig } from "../../config/index.ts";
import type { Spec, SpecMount } from "../../spec/index.ts";
import { type CompileHost, compile } from "../index.ts";

const MAP = [{ containerID: 0, hostID: 100_000, size: 1000 }];
const MAPPED = { uidMappings: MAP, gidMappings: MAP };
const TRIPLES = [0, 100_000, 1000];
const USER: Spec["linux"] = { namespaces: [{ type: "mount" }, { type: "user" }], ...MAPPED };

function planOf(
  mounts: readonly SpecMount[],
  linux: Spec["linux"] = { namespaces: [{ type: "mount" }] },
  facts: Partial<CompileHost> = {},
) {
  const spec: Spec = { ociVersion: "1.2.0", root: { path: "rootfs" }, mounts: [...mounts], linux };
  const config = deriveConfig(spec, { bundle: "/b" });
  const invocation = { id: "x", mode: "run" as const, noPivot: false, noNewKeyring: true, preserveFds: 0, listenFds: 0 };
  const host: CompileHost = { stateDirectory: "/run/x", rootless: false, cgroupVersion: 1, cgroupSources: [], ...facts };
  return compile({ config, invocation, host }).ops;
}
const bind = (options: string[], more: Partial<SpecMount> = {}): SpecMount => ({
  destination: "/m",
  source: "/s",
  options: ["bind", ...options],
  ...more,
});
const ofMounts = (...input: Parameters<typeof planOf>) =>
  planOf(...input)
    .filter(({ from, op }) => from.startsWith("/mounts") || op === "idmap.open")
    .map(({ actor, op, args }) => ({ op: `${actor} ${op}`, ...args }));

describe("mounts", () => {
  it("leaves an ordinary bind to init, and adds nothing", () => {
    expect(ofMounts([bind([])]).map(({ op }) => op)).toEqual(["init mount.open", "init mount.bind"]);
  });

  it("makes the maps before the clone, shares user namespaces of the same mappings, and maps each source when its turn comes", () => {
    const mounts = [bind(["idmap"], MAPPED), bind(["ridmap"], MAPPED), bind(["idmap=uids=0-1-1;gids=0-1-1"])];
    const ops = ofMounts(mounts);
    expect(ops.map(({ op }) => op)).toEqual([
      ...["intermediate idmap.open", "intermediate idmap.open"],
      ...[0, 1, 2].flatMap(() => ["init mount.open", "init mount.idmap", "init mount.bind"]),
    ]);
    expect(ops[0]).toMatchObject({ uidMap: TRIPLES, gidMap: TRIPLES, slot: 5 });
    expect(ops.filter(({ op }) => op === "init mount.idmap")).toMatchObject([
      { slot: 7, userNamespace: 5, recursive: false },
      { slot: 8, userNamespace: 5, recursive: true },
      { slot: 9, userNamespace: 6, recursive: false },
    ]);
    expect(ops.filter(({ op }) => op === "init mount.bind")).toMatchObject([{ slot: 7 }, { slot: 8 }, { slot: 9 }]);
  });

  it("leaves somebody with the rights of the host to an init in a user namespace that has sources to open", () => {
    const serves = (...input: Parameters<typeof planOf>) => planOf(...input).some(({ op }) => op === "source.serve");
    expect(serves([bind([])], USER)).toBe(true);
    expect(serves([], USER)).toBe(false);
    expect(serves([bind(["idmap"], MAPPED)])).toBe(false);
    expect(serves([bind([])], USER, { rootless: true, caller: { uid: 5, gid: 5, newuidmap: "/x", newgidmap: "/x" } })).toBe(false);
  });

  it("opens before the clone what a joined mount namespace would not show", () => {
    const joined = { ...USER, namespaces: [{ type: "mount", path: "/m" }, { type: "user" }] };
    expect(ofMounts([bind(["idmap"])], joined).map(({ op }) => op)).toEqual([
      ...["intermediate mount.open", "intermediate idmap.open", "intermediate mount.idmap", "init mount.bind"],
    ]);
  });

  it("opens the joined user namespace itself", () => {
    const joined = { namespaces: [{ type: "mount" }, { type: "user", path: "/proc/7/ns/user" }] };
    expect(ofMounts([bind(["idmap"])], joined)).toMatchObject([
      { op: "intermediate file.open", path: "/proc/7/ns/user", flags: 0, slot: 5 },
      { op: "init mount.open" },
      { op: "init mount.idmap", userNamespace: 5 },
      { op: "init mount.bind" },
    ]);
  });

  it("makes a mapped filesystem with the rights of the host; init attaches it, and seals a read-only tmpfs at the end", () => {
    const tmpfs: SpecMount = { destination: "/t", type: "tmpfs", source: "t", options: ["ro", "nosuid", "size=1k", "tmpcopyup", "idmap"] };
    expect(ofMounts([tmpfs], USER)).toMatchObject([
      { op: "intermediate mount.make", fstype: "tmpfs", data: ["size=1k"], superFlags: 0n, attrSet: 2n, slot: 5 },
      { op: "intermediate idmap.open", slot: 6 },
      { op: "intermediate mount.idmap", slot: 5, userNamespace: 6 },
      { op: "init directory.open" },
      { op: "init mount.bind", slot: 5, create: CREATE.withMode, attrSet: 0n },
      { op: "init directory.copy" },
      { op: "init mount.remount", attrSet: 1n },
    ]);
    const own = { ...tmpfs, options: ["mode=700", "idmap"] };
    expect(ofMounts([own], USER).at(-1)).toMatchObject({ op: "init mount.bind", create: CREATE.directory });
  });

  it("refuses mapped mounts without rights on the host", () => {
    expect(() => planOf([bind(["idmap"])], USER, { rootless: true, caller: { uid: 5, gid: 5, newuidmap: "/x", newgidmap: "/x" } })).toThrow(
      expect.objectContaining({ code: "not-supported", details: { pointer: "/mounts/0" } }),
    );
  });

  it("opens links, and mounts on them", () => {
    expect(ofMounts([bind(["copy-symlink"])])).toMatchObject([{ op: "init mount.openLink", copy: true }, { create: CREATE.likeSource }]);
    expect(ofMounts([bind(["src-nofollow", "dest-nofollow"])], USER)).toMatchObject([
      { op: "init mount.openLink", copy: false },
      { op: "init mount.bind", create: CREATE.notFollowed },
    ]);
  });
});

describe("devices", () => {
  const device = { path: "/dev/x", type: "c", major: 10, minor: 1, uid: 3, gid: 4, fileMode: 0o600 };
  const own = (linux: Spec["linux"], facts?: Partial<CompileHost>) =>
    planOf([], { ...linux, devices: [device, { path: "/dev/p", type: "p" }] }, facts)
      .filter(({ from }) => from.startsWith("/linux/devices"))
      .map(({ actor, op, args }) => ({ op: `${actor} ${op}`, ...args }));

  it("are made by init", () => {
    expect(own({ namespaces: [{ type: "mount" }] }).map(({ op }) => op)).toEqual(["init device.create", "init device.create"]);
  });

  it("are made by intermediate for a user namespace, with ids of the host, and verified", () => {
    expect(own(USER)).toMatchObject([
      { op: "intermediate device.open", path: "/dev/x", major: 10, minor: 1, mode: 0o600, uid: 100_003, gid: 100_004 },
      { op: "init mount.bind", target: "/dev/x" },
      { op: "init device.create", path: "/dev/x" },
      { op: "init device.create", path: "/dev/p" },
    ]);
  });

  it("are the host's own in a joined user namespace and without rights, and verified", () => {
    const joined = { namespaces: [{ type: "mount" }, { type: "user", path: "/x" }] };
    const bound = (actor: string) => [`${actor} mount.open`, "init mount.bind", "init device.create", "init device.create"];
    expect(own(joined).map(({ op }) => op)).toEqual(bound("intermediate"));
    expect(own({ ...joined, ...MAPPED })[0]).toMatchObject({ op: "intermediate device.open", uid: 100_003 });
    const caller = { uid: 100_000, gid: 100_000, newuidmap: "/x", newgidmap: "/x" };
    expect(own(USER, { rootless: true, caller }).map(({ op }) => op)).toEqual(bound("init"));
  });
});
