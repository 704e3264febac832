import { MOUNT_ATTR, type MountLine } from "../../../shared/linux/index.ts";
import { bindAttributes, changesSuperblock, type MountAttributes, parseMountOptions } from "../../config/index.ts";
import { cleanPath, cleanTarget, type Spec, type SpecMount } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import { absolute, type ContainerFiles, type Found, type HostCheck, type NotFound, onHost } from "../host/container-files.ts";
import { isAt, type MountTable, mountTable } from "../host/mount-table.ts";
import type { BundleView } from "../host/view.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { ACCESS_TIMES, changeTop, changeTree, type Flags, flagsOf, lockedFlags, timesText } from "./attributes.ts";
import { notOfProc } from "./mounts.ts";
import { isBind } from "./words.ts";

/** Filesystems that belong to the user namespace in which they are mounted lock nothing. */
const UNLOCKED: Flags = { set: 0n, locked: 0n, locksTimes: false, isReadOnly: false };

/** mount_namespaces(7): what was set on a mount of the host, a user namespace cannot take away, nor change its access times. */
export const lockedMounts: HostCheck = (spec, report, { view, files }) => {
  const table = locksMounts(spec) ? mountTable(view) : undefined;
  if (table === undefined || files === undefined) return;
  const mounts: Mounts = { made: [], ofHost: new Set() };
  const rootfs = rootOf(spec, view);
  spec.mounts?.forEach((mount, index) => {
    if (mount.options?.includes("remount")) {
      remount(mount, index, mounts, files, report);
      return;
    }
    const place = isBind(mount) ? sourceOf(mount, view, rootfs) : undefined;
    // A user namespace that is joined may have mounted the filesystem of the source itself.
    if (place !== undefined && !namespaceOf(spec, "user")?.path) mounts.ofHost.add(index);
    mounts.made[index] = isBind(mount) ? bound(mount, index, place, table, report) : newMount(mount, index, table, report);
  });
};

/** What is known of the entries of `mounts` so far, by index. */
interface Mounts {
  readonly made: (Flags | undefined)[];
  /** Bind mounts of a filesystem that belongs to the host. */
  readonly ofHost: Set<number>;
}

/** The container's mounts are copies of the host's in a namespace that a new user namespace owns. In a mount namespace that is joined nothing is known. */
function locksMounts(spec: Spec): boolean {
  const namespace = namespaceOf(spec, "mount");
  return namespaceOf(spec, "user") !== undefined && namespace !== undefined && !namespace.path;
}

const optionsOf = ({ options }: SpecMount) => parseMountOptions(options ?? [], "", () => {});

function bound(mount: SpecMount, index: number, place: string | undefined, table: MountTable, report: Report): Flags | undefined {
  const parsed = optionsOf(mount);
  const source = place === undefined ? undefined : table.at(place);
  if (place === undefined || source === undefined) return undefined;
  const isTree = parsed.bind === "tree";
  const below = mountsBelow(table, source, place);
  // Such a part of a tree the helper takes in the host's namespace.
  if (!isTree && below.length > 0) return undefined;
  const { attrDrop, ...attributes } = bindAttributes(parsed);
  const after = change(lockedFlags(source), attributes, attrDrop);
  const others = isTree ? below.map((other) => [other, changeTree(lockedFlags(other), attributes)] as const) : [];
  const refused = [[source, after] as const, ...others].find(([, result]) => typeof result === "string");
  if (refused === undefined) return typeof after === "string" ? undefined : after;
  const what = `mount of "${mount.destination}": the host's mount of ${refused[0].point}`;
  report.error("mount-flags-locked", `/mounts/${index}/options`, `${what} ${refused[1]}, which a user namespace cannot change`);
  return undefined;
}

function change(flags: Flags, attributes: MountAttributes, attrDrop: bigint): Flags | string {
  const top = changeTop(flags, attributes, attrDrop);
  return typeof top === "string" ? top : changeTree(top, attributes);
}

/** The root filesystem's place on the host, without links. */
function rootOf({ root }: Spec, view: BundleView): string | undefined {
  return view.bundle && root?.path ? onHost(view, absolute(view.bundle, root.path))?.path : undefined;
}

/** Without links. undefined: it is not known, or it may be below a mount of the container's own. */
function sourceOf({ source, options }: SpecMount, view: BundleView, rootfs: string | undefined): string | undefined {
  if (!source || rootfs === undefined || options?.some((word) => /^(?:copy-symlink$|src-nofollow)/.test(word))) return undefined;
  const place = onHost(view, absolute(view.bundle ?? "/", source))?.path;
  return place === undefined || isAt(place, rootfs) ? undefined : place;
}

/** What a recursive bind takes with a directory. */
function mountsBelow(table: MountTable, mount: MountLine, place: string): readonly MountLine[] {
  const inside = table.childrenOf(mount).filter(({ point }) => isAt(point, place));
  return inside.flatMap((child) => [child, ...mountsBelow(table, child, child.point)]);
}

function newMount(mount: SpecMount, index: number, table: MountTable, report: Report): Flags | undefined {
  const { attributes } = optionsOf(mount);
  const flags: Flags = { ...UNLOCKED, set: attributes.attrSet | attributes.recursiveSet };
  if (mount.type !== "proc" && mount.type !== "sysfs") return flags;
  const problem = whyHidden(table, mount, flags.set);
  if (problem === undefined) return { ...flags, locksTimes: true };
  report.error("mount-too-revealing", `/mounts/${index}`, `mount of "${mount.destination}": ${problem}`);
  return undefined;
}

function remount(mount: SpecMount, index: number, { made, ofHost }: Mounts, files: ContainerFiles, report: Report): void {
  const place = files.destination(index);
  const target = place?.status === "found" && place.path === place.layer.at ? place.layer.index : -1;
  const parsed = optionsOf(mount);
  if (ofHost.has(target) && changesSuperblock(parsed)) {
    report.error(
      "remount-host-filesystem",
      `/mounts/${index}/options`,
      `remount of "${mount.destination}": without "bind" it changes the filesystem, which is the host's and not of the user namespace`,
    );
    return;
  }
  const flags = made[target];
  if (flags === undefined) return;
  const after = change(flags, parsed.attributes, 0n);
  if (typeof after !== "string") {
    made[target] = after;
    return;
  }
  const what = `remount of "${mount.destination}": the mount`;
  report.error("mount-flags-locked", `/mounts/${index}/options`, `${what} ${after}, which a user namespace cannot change`);
}

/** Directories that the kernel has only for others to be mounted on: these cover nothing. */
const MOUNT_POINTS: Readonly<Record<string, RegExp>> = {
  proc: /^\/(?:sys\/fs\/binfmt_misc|fs\/nfsd|openprom|xen)$/,
  sysfs:
    /^\/(?:fs\/(?:bpf|cgroup|fuse\/connections|pstore|resctrl|selinux|smackfs)|kernel\/(?:config|debug|security|tracing)|firmware\/efi\/efivars|hypervisor\/s390)$/,
};

/**
 * A user namespace may mount procfs and sysfs where it sees all of them already: in a mount of the
 * host's with the same access times, which is writable where the new one is, and of which no file is
 * covered (mount_namespaces(7), the kernel's mnt_already_visible).
 * @param flags of the new mount; undefined: it may be made, or that is not known
 */
function whyHidden(table: MountTable, { type = "", options }: SpecMount, flags: bigint): string | undefined {
  // A procfs with nothing but processes may do without, in kernels of the future.
  if (options?.some((word) => /(?:^|,)subset=/.test(word))) return undefined;
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

/** CVE-2019-16884: what is bound on /proc is a procfs. (init looks at the source itself.) */
export const procSources: HostCheck = (spec, report, { view }) => {
  spec.mounts?.forEach((mount, index) => {
    if (!isBind(mount) || mount.options?.includes("remount") || cleanTarget(mount.destination) !== "/proc") return;
    const place = sourceOf(mount, view, rootOf(spec, view));
    const source = place === undefined ? undefined : mountTable(view)?.at(place);
    if (source !== undefined && source.type !== "proc") report.error("mount-on-proc", `/mounts/${index}/destination`, notOfProc(mount));
  });
};

/** mount(2), MS_REMOUNT: the target must be the root of an existing mount. */
export const remountTargets: HostCheck = (spec, report, { view, files }) => {
  const namespace = namespaceOf(spec, "mount");
  // In a joined mount namespace anything may be mounted.
  if (files === undefined || namespace === undefined || namespace.path) return;
  spec.mounts?.forEach((mount, index) => {
    const place = mount.options?.includes("remount") ? files.destination(index) : undefined;
    if (place === undefined || (place.status === "found" && place.path === place.layer.at)) return;
    const layer = spec.mounts?.[place.layer.index];
    // The hierarchies of cgroup v1 are below it.
    if (layer?.type === "cgroup") return;
    // What comes along with the root filesystem, or with a bind mount, brings mounts of its own.
    if ((layer === undefined || isBind(layer)) && mayBeMounted(place, spec, view.text("/proc/self/mountinfo"))) return;
    report.error(
      "remount-not-mounted",
      `/mounts/${index}/destination`,
      `nothing is mounted on "${mount.destination}" that could be remounted`,
    );
  });
};

/** proc_pid_mountinfo(5): some mount of the host has a name that ends like the place in its source. */
function mayBeMounted(place: Found | NotFound, { root }: Spec, mountinfo = ""): boolean {
  const path = place.status === "found" ? place.path : [place.parent === "/" ? "" : place.parent, place.name, ...place.rest].join("/");
  const { at, index } = place.layer;
  // The last name of a source may be a link, which mountinfo does not show. The root filesystem is no link (rootfs-symlink).
  const end =
    index === -1
      ? `/${cleanPath(root?.path ?? "")
          .split("/")
          .at(-1)}${path}`
      : path.slice(at.length);
  return mountinfo.split("\n").some((line) => line.split(" ", 5)[4]?.endsWith(end));
}
