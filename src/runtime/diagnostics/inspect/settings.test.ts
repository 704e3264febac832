/** What was asked beside texts of the kernel: processes, namespaces, mounts, locks. */
import { describe, expect, it } from "vitest";
import { type MountLine, parseMountinfo } from "../../../shared/linux/index.ts";
import { deriveConfig } from "../../config/index.ts";
import type { Spec } from "../../spec/index.ts";
import { lockHolders } from "../../state/index.ts";
import { namespaceSettings } from "./kernel.ts";
import { afterExecve, processSettings } from "./process.ts";
import { mountSettings } from "./settings.ts";

const configOf = (more: Partial<Spec>) =>
  deriveConfig({ ociVersion: "1.2.0", root: { path: "rootfs" }, ...more } as Spec, { bundle: "/b" });

const PROCESS = {
  args: ["sh"],
  cwd: "/",
  user: { uid: 5, gid: 6, additionalGids: [8, 7] },
  noNewPrivileges: true,
  oomScoreAdj: 10,
  rlimits: [{ type: "RLIMIT_NOFILE", soft: 100, hard: 200 }],
};
const STATUS = "Uid:\t5\t5\t5\t5\nGid:\t6\t6\t6\t6\nGroups:\t7 8 \nUmask:\t0022\nNoNewPrivs:\t1\nSeccomp:\t0\n";
const LIMITS = "Max open files            100                  200                  files     \n";

describe("processSettings", () => {
  const drifting = (texts: Parameters<typeof processSettings>[1], started = true, more: Partial<Spec> = {}) =>
    processSettings(configOf({ process: PROCESS, ...more }), texts, started)
      .filter(({ drift }) => drift)
      .map(({ name }) => name);

  it("finds nothing in a process that is as it was asked", () => {
    expect(drifting({ status: STATUS, limits: LIMITS, oomScoreAdj: "10", cwd: "/" })).toEqual([]);
  });

  it("finds each thing that is not, but only once the program runs", () => {
    const status = STATUS.replaceAll("5", "0")
      .replace("7 8", "7")
      .replace("0022", "0000")
      .replace("NoNewPrivs:\t1", "NoNewPrivs:\t0")
      .replace("Seccomp:\t0", "Seccomp:\t2");
    const texts = { status, limits: LIMITS.replace("100", "101"), oomScoreAdj: "0", cwd: "/tmp" };
    expect(drifting(texts)).toEqual(["user", "groups", "umask", "cwd", "no_new_privs", "seccomp", "RLIMIT_NOFILE", "oom_score_adj"]);
    expect(drifting(texts, false)).toEqual([]);
    expect(drifting({ ...texts, ownSeccomp: "2" })).not.toContain("seccomp");
  });

  it("says nothing of what cannot be read", () => {
    expect(drifting({})).toEqual([]);
  });

  it("compares ids of the host", () => {
    const linux = {
      namespaces: [{ type: "user" }],
      uidMappings: [{ containerID: 0, hostID: 1000, size: 10 }],
      gidMappings: [{ containerID: 0, hostID: 2000, size: 10 }],
    };
    const status = "Uid:\t0\t1005\t0\t0\nGid:\t0\t2006\t0\t0\nGroups:\t2007 2008\n";
    expect(drifting({ status, uidMap: "0 1000 10", gidMap: "0 2000 11" }, true, { linux })).toEqual(["gid_map"]);
  });
});

describe("afterExecve", () => {
  const sets = { bounding: 0b111n, permitted: 0b011n, effective: 0b001n, inheritable: 0n, ambient: 0n };
  const as = (uid: number, noNewPrivileges: boolean) => afterExecve(sets, { uid, noNewPrivileges } as Parameters<typeof afterExecve>[1]);
  it("gives root its bounding set, less what no_new_privs withholds, and others what is ambient", () => {
    expect(as(0, false)).toMatchObject({ permitted: 0b111n, effective: 0b111n });
    expect(as(0, true)).toMatchObject({ permitted: 0b011n, effective: 0b011n });
    expect(as(5, false)).toMatchObject({ permitted: 0n, effective: 0n });
  });
});

describe("namespaceSettings", () => {
  const config = configOf({ linux: { namespaces: [{ type: "pid" }, { type: "network", path: "/run/netns/x" }, { type: "mount" }] } });
  const settings = (ofInit: Record<string, string>) =>
    namespaceSettings(config, { ofInit: (file) => ofInit[file], ownOne: (file) => `${file}:[1]`, ofPath: () => "net:[7]" });

  it("takes a new one for anything but the runtime's own, and a joined one for that of the path", () => {
    const init = { pid: "pid:[2]", net: "net:[7]", mnt: "mnt:[3]", cgroup: "cgroup:[1]" };
    expect(settings(init).filter(({ drift }) => drift)).toEqual([]);
    expect(
      settings({ ...init, pid: "pid:[1]", net: "net:[8]" })
        .filter(({ drift }) => drift)
        .map(({ name }) => name),
    ).toEqual(["network", "pid"]);
  });
});

describe("mountSettings", () => {
  const text =
    "30 29 0:26 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw\n31 29 0:27 / /with\\040blank ro,relatime shared:5 - tmpfs tmpfs rw\n";
  const lines = new Map<string, MountLine>(parseMountinfo(text).map((line) => [line.point, line]));
  const config = configOf({
    mounts: [
      { destination: "/proc", type: "proc", source: "proc", options: ["nosuid", "noexec"] },
      { destination: "/with blank", type: "tmpfs", source: "tmpfs", options: ["ro", "nosuid"] },
      { destination: "/gone", type: "bind", source: "/x", options: ["bind"] },
    ],
  });

  it("finds mounts without an option, and those that are not there", () => {
    const drifting = mountSettings(config, (target) => lines.get(target) ?? null).filter(({ drift }) => drift);
    expect(drifting.map(({ name, kernel }) => [name, kernel])).toEqual([
      ["/with blank", "tmpfs ro"],
      ["/gone", "not mounted"],
    ]);
    expect(mountSettings(config, () => undefined).some(({ drift }) => drift)).toBe(false);
  });
});

describe("lockHolders", () => {
  const locks =
    "1: POSIX  ADVISORY  WRITE 10 00:1a:77 0 EOF\n2: FLOCK  ADVISORY  WRITE 11 00:1a:77 0 EOF\n3: FLOCK  ADVISORY  WRITE 12 00:1a:78 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 13 00:1a:77 0 EOF\n";
  it("are those that hold a lock on this very file", () => {
    expect(lockHolders(locks, { dev: 0x1an, ino: 77n })).toEqual([11]);
    expect(lockHolders("1: FLOCK  ADVISORY  WRITE 11 103:05:9 0 EOF\n", { dev: (0x103n << 8n) | 5n, ino: 9n })).toEqual([11]);
  });
});
