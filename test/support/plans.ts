/** Pieces of plans for tests of the helper: a container of busybox, bent by each test where it matters. */
import { MESSAGES } from "../../src/runtime/plan/ops.ts";
import { init, outer, type TestOp } from "./pack.ts";

export const CLONE_NEW = {
  mount: 0x2_0000,
  cgroup: 0x200_0000,
  uts: 0x400_0000,
  ipc: 0x800_0000,
  user: 0x1000_0000,
  pid: 0x2000_0000,
  network: 0x4000_0000,
} as const;
export const NAMESPACES = CLONE_NEW.mount | CLONE_NEW.uts | CLONE_NEW.ipc | CLONE_NEW.pid;
export const MS = { private: 0x4_0000, slave: 0x8_0000, shared: 0x10_0000, rec: 0x4000 } as const;
export const ATTR = {
  readonly: 1n,
  nosuid: 2n,
  nodev: 4n,
  noexec: 8n,
  atime: 0x70n,
  noatime: 0x10n,
  strictatime: 0x20n,
  nosymfollow: 0x20_0000n,
} as const;
export const S_IFCHR = 0o020000;
export const S_IFIFO = 0o010000;

export interface Parts {
  readonly root: string;
  /** Before the clone. */
  readonly outer?: readonly TestOp[];
  readonly namespaces?: number;
  /** After the clone, before anything else. */
  readonly first?: readonly TestOp[];
  readonly propagation?: number;
  /** On the opened root, before the pivot. */
  readonly mounts?: readonly TestOp[];
  readonly pivot?: readonly TestOp[];
  /** After the pivot. */
  readonly paths?: readonly TestOp[];
  readonly process?: readonly TestOp[];
  /** Shell script that the container runs. */
  readonly script?: string;
  readonly env?: readonly string[];
}

export const PROC = init("mount.filesystem", { fstype: "proc", source: "proc", target: "/proc", ordinaryDirectory: true });
export const DEV = init("mount.filesystem", { fstype: "tmpfs", source: "tmpfs", target: "/dev", data: ["mode=755"] });
export const DEVPTS = init("mount.filesystem", {
  fstype: "devpts",
  source: "devpts",
  target: "/dev/pts",
  data: ["newinstance", "ptmxmode=0666", "mode=0620"],
});
export const NULL_DEVICE = init("device.create", { path: "/dev/null", type: S_IFCHR, major: 1, minor: 3, mode: 0o666 });

export function container(parts: Parts): TestOp[] {
  const { root, namespaces = NAMESPACES, propagation = MS.slave | MS.rec, script = ":" } = parts;
  return [
    ...(parts.outer ?? []),
    outer("process.clone", { flags: namespaces }),
    init("process.deathSignal", { signal: 9 }),
    ...(parts.first ?? []),
    init("session.create"),
    init("root.propagation", { flags: propagation }),
    init("root.open", { path: root, inPlace: false }),
    ...(parts.mounts ?? [PROC]),
    ...(parts.pivot ?? [init("root.pivot")]),
    ...(parts.paths ?? []),
    ...(parts.process ?? [init("process.cwd", { path: "/" })]),
    init("process.program", { name: "sh", path: "/bin" }),
    init("descriptors.sweep", { first: 3 }),
    init("sync.send", { message: MESSAGES.ready }),
    init("sync.wait", { message: MESSAGES.commit }),
    init("process.deathSignal", { signal: 0 }),
    init("process.exec", { args: ["sh", "-c", script], env: ["PATH=/bin", ...(parts.env ?? [])] }),
  ];
}
