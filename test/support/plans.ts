/** Pieces of plans for tests of the helper: a container with busybox, which each test changes where it matters. */

import { CLONE_NEW, MS as LINUX_MS, MOUNT_ATTR, S } from "../../src/shared/linux/index.ts";
import { MESSAGES } from "../../src/shared/protocol/index.ts";
import { init, intermediate, type TestOp } from "./pack.ts";

export { CLONE_NEW };
export const NAMESPACES = CLONE_NEW.mount | CLONE_NEW.uts | CLONE_NEW.ipc | CLONE_NEW.pid;
export const MS = { private: LINUX_MS.PRIVATE, slave: LINUX_MS.SLAVE, shared: LINUX_MS.SHARED, rec: LINUX_MS.REC } as const;
export const ATTR = {
  readonly: MOUNT_ATTR.RDONLY,
  nosuid: MOUNT_ATTR.NOSUID,
  nodev: MOUNT_ATTR.NODEV,
  noexec: MOUNT_ATTR.NOEXEC,
  atime: MOUNT_ATTR.ATIME,
  noatime: MOUNT_ATTR.NOATIME,
  strictatime: MOUNT_ATTR.STRICTATIME,
  nosymfollow: MOUNT_ATTR.NOSYMFOLLOW,
} as const;
export const S_IFCHR = S.IFCHR;
export const S_IFIFO = S.IFIFO;

export interface Parts {
  readonly root: string;
  /** Before the clone. */
  readonly intermediate?: readonly TestOp[];
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
    ...(parts.intermediate ?? []),
    intermediate("process.clone", { flags: namespaces }),
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
