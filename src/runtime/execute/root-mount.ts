/**
 * The root of a container that shares the caller's mount namespace, bound on itself: whatever is mounted for the container is mounted in it and
 * ends with it. docs/decisions/0037-mounts-in-a-shared-namespace.md
 */
import { parseMountLine } from "../../shared/linux/index.ts";
import type { OpArgs } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { type RootMountRecord, type StateRecord, writeRecord } from "../state/index.ts";
import type { Execution } from "./execution.ts";
import { warn } from "./warn.ts";

/** The operation root.bind. The mount is in the record before it is in the mount namespace. @throws RuntError not-supported, operation */
export function bindRoot({ asked, made }: Execution, { path }: OpArgs<"root.bind">, pointer: string): void {
  const directory = openRoot(path, pointer);
  let mount = -1;
  try {
    mount = host.cloneMount(directory);
    made.record = { ...made.record, rootMount: identify(mount) };
    writeRecord(asked.root, made.record);
    host.attachMount(mount, directory);
  } catch (error) {
    if (!host.isErrno(error, "ENOSYS", "EPERM")) throw error;
    const message = `mounts without a mount namespace of the container's own need open_tree(2), move_mount(2) and statx(2): ${host.reason(error)}`;
    throw new RuntError("not-supported", message, { pointer: "/linux/namespaces", hint: "add a mount namespace", cause: error });
  } finally {
    if (mount >= 0) host.close(mount);
    host.close(directory);
  }
}

function openRoot(path: string, pointer: string): number {
  try {
    return host.open(path, host.O.PATH | host.O.DIRECTORY | host.O.NOFOLLOW);
  } catch (error) {
    if (!host.isErrno(error, "ENOTDIR")) throw error;
    throw new RuntError("operation", `root.bind ${path}: the root filesystem is not a directory, or a symlink`, { pointer, cause: error });
  }
}

function identify(mount: number): RootMountRecord {
  const { id, unique } = host.mountIds(mount);
  const { dev, ino } = host.fstat(mount);
  return {
    id,
    ...(unique !== undefined && { unique: String(unique) }),
    directory: `${dev}:${ino}`,
    namespace: namespaceOfCaller(),
    boot: bootId(),
  };
}

function namespaceOfCaller(): string {
  return host.readlink("/proc/self/ns/mnt");
}

/**
 * Detach the recorded mount and all that is mounted in it. One that is gone is no error, and one that is not the recorded one is left alone.
 * @throws RuntError operation when something else is mounted over it: the record is kept, and a later delete does it
 */
export function detachRoot({ id, rootfs, rootMount }: StateRecord): void {
  if (rootMount === undefined || rootMount.boot !== bootId()) return;
  if (detachAt(rootfs, rootMount) === "detached") return;
  // It may have been moved, or a directory above it renamed.
  const place = placeOf(rootMount.id);
  if (place !== undefined && detachAt(place, rootMount) === "hidden") {
    throw new RuntError("operation", `container ${id}: its mounts in ${place} cannot be unmounted: something else is mounted over them`, {
      hint: `umount ${place}, then delete again`,
    });
  }
  if (place === undefined && namespaceOfCaller() !== rootMount.namespace)
    warn(`container ${id}: what was mounted in ${rootfs} is in another mount namespace (${rootMount.namespace}), and was not unmounted`);
}

/** What became of the mount whose root is at a path. hidden: it has another id. other: it has the recorded id, and is not the recorded mount. */
function detachAt(path: string, { id, unique, directory }: RootMountRecord): "detached" | "hidden" | "other" {
  let fd: number;
  try {
    fd = host.open(path, host.O.PATH | host.O.DIRECTORY | host.O.NOFOLLOW);
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "ENOTDIR", "ELOOP", "EACCES")) return "hidden";
    throw error;
  }
  try {
    const ids = host.mountIds(fd);
    if (ids.id !== id) return "hidden";
    // Ids of mounts are used again. Kernels before 6.8 have no others: there the mount also shows the same directory.
    const { dev, ino } = host.fstat(fd);
    if ((unique !== undefined && unique !== String(ids.unique)) || directory !== `${dev}:${ino}`) return "other";
    host.detachMount(fd);
    return "detached";
  } finally {
    host.close(fd);
  }
}

/** Where the caller's mount namespace has a mount with this id (proc_pid_mountinfo(5)). */
function placeOf(id: number): string | undefined {
  const text = `\n${host.readFile("/proc/self/mountinfo", undefined, true)}`;
  const at = text.indexOf(`\n${id} `);
  return at === -1 ? undefined : parseMountLine(text.slice(at + 1, text.indexOf("\n", at + 1)))[0]?.point;
}

/** What tells this boot from others: pids, mounts and cgroups are of one boot (random(4)). */
export function bootId(): string {
  return host.readFile("/proc/sys/kernel/random/boot_id", undefined, true).trim();
}
