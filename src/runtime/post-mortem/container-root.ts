/** The container as it was when something failed: its files, through the root of init while it is still there. Read only. */
import { type MountLine, parseMountinfo } from "../../shared/linux/index.ts";
import * as host from "../host/index.ts";

export interface ContainerRoot {
  /** O_PATH descriptor of the container's root. */
  readonly root: number;
  /** Directory of init below /proc, which is held: it leads to no other process. That of this process when only the root filesystem on the host can be looked at. */
  readonly proc: string;
}

/** init, by its number: that of an unreaped child of this process, or of one that began then. 0: there is none. */
export interface Init {
  readonly pid: number;
  /** As /proc/PID/stat has it. undefined: it is an unreaped child, whose number cannot come again. */
  readonly startTime: string | undefined;
}

/** Directories with more entries than fit into this many bytes are not searched. */
const DIRECTORY_MAX = 1 << 20;

/**
 * undefined: there is nothing to look at. A failed init ends after a moment, and its mounts with it: the root filesystem alone lacks what was mounted on
 * it, and would tell of files that are missing. So the mount namespace is kept as long as the process looks.
 */
export function openContainerRoot({ pid, startTime }: Init, rootfs: string): ContainerRoot | undefined {
  const flags = host.O.PATH | host.O.DIRECTORY;
  return attempt(() => {
    if (pid <= 0) return { root: host.open(rootfs, flags | host.O.NOFOLLOW), proc: "/proc/self" };
    const proc = `/proc/self/fd/${host.open(`/proc/${pid}`, flags)}`;
    // Compared after it was opened: the directory is that of the process which had the number then, or of an earlier one, and init is the earliest.
    if (startTime !== undefined && String(host.procStat(pid)?.startTime) !== startTime) return undefined;
    host.open(`${proc}/ns/mnt`, host.O.RDONLY);
    return { root: host.open(`${proc}/root`, flags), proc };
  });
}

export function attempt<T>(action: () => T): T | undefined {
  try {
    return action();
  } catch {
    return undefined;
  }
}

export interface Found {
  readonly fd: number;
  readonly stat: host.Stat;
}

/** What is at a path, links followed inside the root; the name of the error if nothing can be reached. */
export function find({ root }: ContainerRoot, path: string, flags = 0): Found | string {
  try {
    const fd = host.openInRoot(root, path, host.O.PATH | flags);
    return { fd, stat: host.fstat(fd) };
  } catch (error) {
    return (error as host.HostError).code ?? "EIO";
  }
}

export function isDirectory({ stat }: Found): boolean {
  return stat.mode >> 12 === 0o4;
}

export function isRegular({ stat }: Found): boolean {
  return stat.mode >> 12 === 0o10;
}

/** Text of the link at a path; undefined if there is none. */
export function linkText(container: ContainerRoot, path: string): string | undefined {
  const { directory, name } = splitPath(path);
  const parent = find(container, directory, host.O.DIRECTORY);
  // readlink(2) does not follow the last component, and what is before it was resolved inside the root.
  return typeof parent === "string" ? undefined : attempt(() => host.readlink(`/proc/self/fd/${parent.fd}/${name}`));
}

export function splitPath(path: string): { readonly directory: string; readonly name: string } {
  const clean = path.replace(/\/+$/, "");
  const slash = clean.lastIndexOf("/");
  return { directory: slash <= 0 ? "/" : clean.slice(0, slash), name: clean.slice(slash + 1) };
}

/** Names in a directory; none if it is absent or very large. */
export function namesIn(container: ContainerRoot, directory: string): readonly string[] {
  const found = find(container, directory === "" ? "/" : directory, host.O.DIRECTORY);
  if (typeof found === "string" || found.stat.size > DIRECTORY_MAX) return [];
  return attempt(() => host.readdir(`/proc/self/fd/${found.fd}`)) ?? [];
}

/** A part of a regular file. */
export function readPart({ fd }: Found, offset: number, length: number): ArrayBuffer {
  const file = host.open(`/proc/self/fd/${fd}`, host.O.RDONLY | host.O.NONBLOCK | host.O.NOCTTY);
  try {
    return host.pread(file, offset, length);
  } finally {
    host.close(file);
  }
}

/** One character a byte. */
export function latin1(bytes: ArrayBuffer): string {
  return Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
}

/** The mount that a file is on, from proc_pid_mountinfo(5). */
export function mountOf({ proc }: ContainerRoot, { fd }: Found): MountLine | undefined {
  const id = /^mnt_id:\s+(\d+)$/m.exec(attempt(() => host.readFile(`/proc/self/fdinfo/${fd}`, undefined, true)) ?? "")?.[1];
  const text = attempt(() => host.readFile(`${proc}/mountinfo`, undefined, true)) ?? "";
  return parseMountinfo(text).find((mount) => mount.id === id);
}
