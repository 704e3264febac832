/**
 * A user namespace may mount procfs and sysfs where it sees all of them already: in a mount of the host's with the same access times, which is
 * writable where the new one is, and of which no file is covered (mount_namespaces(7), the kernel's mnt_already_visible).
 */
import { MOUNT_ATTR, type MountLine } from "../../../shared/linux/index.ts";
import type { SpecMount } from "../../spec/index.ts";
import type { MountTable } from "../host/mount-table.ts";
import { ACCESS_TIMES, flagsOf, timesText } from "./attributes.ts";

/** Directories that the kernel has only for others to be mounted on: these cover nothing. */
const MOUNT_POINTS: Readonly<Record<string, RegExp>> = {
  proc: /^\/(?:sys\/fs\/binfmt_misc|fs\/nfsd|openprom|xen)$/,
  sysfs:
    /^\/(?:fs\/(?:bpf|cgroup|fuse\/connections|pstore|resctrl|selinux|smackfs)|kernel\/(?:config|debug|security|tracing)|firmware\/efi\/efivars|hypervisor\/s390)$/,
};

/** @param flags of the new mount; undefined: it may be made, or that is not known */
export function whyHidden(table: MountTable, { type = "", options }: SpecMount, flags: bigint): string | undefined {
  // A procfs with nothing but processes may do without, in kernels of the future.
  if (options?.some((word) => word.startsWith("subset="))) return undefined;
  let problem = `a user namespace may not mount ${type}: the host has none mounted as a whole`;
  for (const mount of table.list) {
    if (mount.type !== type || mount.root !== "/") continue;
    const found = problemOf(table, mount, flags);
    if (found === undefined) return undefined;
    problem = `a user namespace may not mount ${type} so: the host's mount of ${mount.point} ${found}`;
  }
  return problem;
}

function problemOf(table: MountTable, mount: MountLine, flags: bigint): string | undefined {
  const host = flagsOf(mount);
  const isReadOnly = mount.ofFilesystem.includes("ro") || (host & MOUNT_ATTR.RDONLY) !== 0n;
  if (isReadOnly && (flags & MOUNT_ATTR.RDONLY) === 0n) return "is read-only";
  if (((host ^ flags) & ACCESS_TIMES) !== 0n) return `has ${timesText(host)} for access times`;
  const isPlace = ({ point }: MountLine) => MOUNT_POINTS[mount.type]?.test(point.slice(mount.point.length)) === true;
  const covered = table.childrenOf(mount).find((child) => !isPlace(child));
  return covered && `is covered at ${covered.point}`;
}
