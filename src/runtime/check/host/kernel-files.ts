/**
 * What a filesystem that the kernel itself fills has at a path: it does not exist yet, and this host's own shows what it will have.
 * Of a recorded host only what every kernel has is known.
 */
import type { Spec, SpecMount } from "../../spec/index.ts";
import type { HostFacts } from "../finding.ts";
import { BELOW_PROC } from "../mounts/mounts.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import type { NotFound } from "./container-files.ts";
import { mountTable } from "./mount-table.ts";
import type { BundleView } from "./view.ts";

/** magic: a link of the kernel's to something open, which create does not follow. unknown: this host's filesystem cannot tell. */
export type KernelFile = "directory" | "file" | "missing" | "magic" | "unknown";

/** Filesystems in which only the kernel makes directories. */
export const OF_THE_KERNEL: readonly string[] = ["proc", "sysfs", "devpts", "mqueue"];

/** @param place opaque: in a mount of the configuration whose content is not known before it is mounted */
export function kernelFile(spec: Spec, place: NotFound, view: BundleView): KernelFile {
  const mount = spec.mounts?.[place.layer.index];
  if (mount === undefined || place.status !== "opaque") return "unknown";
  const names = namesIn(place);
  if (names.includes("..")) return "unknown";
  switch (mount.type) {
    case "devpts":
      return names.length === 1 && names[0] === "ptmx" ? "file" : "missing";
    case "mqueue":
      return isNew(spec, "ipc") ? "missing" : "unknown";
    case "cgroup":
    case "cgroup2":
      return cgroupFile(place, names, view);
    case "sysfs":
      return view.live ? sysfsFile(names, view) : "unknown";
    case "proc":
      if (view.live) return procFile(spec, mount, names, view);
      return hasSubset(mount) || !BELOW_PROC.includes(names.join("/")) ? "unknown" : "file";
    default:
      return "unknown";
  }
}

/** The names on the way from the mount to the place. */
function namesIn(place: NotFound): readonly string[] {
  const whole = [place.parent === "/" ? "" : place.parent, place.name, ...place.rest].join("/");
  return whole
    .slice(place.layer.at.length)
    .split("/")
    .filter((name) => name !== "" && name !== ".");
}

/** Whether the container has a namespace of this type that is made for it. */
export function isNew(spec: Spec, type: string): boolean {
  const namespace = namespaceOf(spec, type);
  return namespace !== undefined && !namespace.path;
}

/** Of cgroup v1 a directory for each hierarchy, and links by the names of controllers; a read-only one takes nothing else. */
function cgroupFile({ layer }: NotFound, names: readonly string[], { facts: { cgroup } }: BundleView): KernelFile {
  if (cgroup?.version !== 1) return "unknown";
  if (isHierarchy(cgroup, names[0] ?? "")) return names.length === 1 ? "directory" : "unknown";
  return isReadOnly(layer.options) ? "missing" : "unknown";
}

function isHierarchy({ hierarchies }: HostFacts["cgroup"], name: string): boolean {
  return hierarchies.some(({ mountpoint, controllers }) => mountpoint.split("/").at(-1) === name || controllers.includes(name));
}

/** In a mount of type cgroup the hierarchies of v1 lie in a tmpfs. */
export function isBesideHierarchies(place: NotFound, { facts: { cgroup } }: BundleView): boolean {
  const [first = ".."] = namesIn(place);
  return cgroup?.version === 1 && first !== ".." && !isHierarchy(cgroup, first);
}

/** Whether the last word on it says so. */
export function isReadOnly(options: readonly string[]): boolean {
  return options.lastIndexOf("ro") > options.lastIndexOf("rw") || options.includes("rro");
}

/** A new sysfs has none of the mounts that this host has below its own. */
function sysfsFile(names: readonly string[], view: BundleView): KernelFile {
  const path = `/sys/${names.join("/")}`;
  if (mountTable(view)?.list.some(({ point }) => point.startsWith("/sys/") && path.startsWith(`${point}/`))) return "missing";
  const kind = kindAt(view, path);
  // Interfaces are those of a network namespace.
  return kind === "missing" && names.includes("net") ? "unknown" : kind;
}

/** proc_pid(5): links to what a process has open, and what would be below them. */
const MAGIC = /^(?:task\/\d+\/)?(?:(?:cwd|exe|root)(?:\/|$)|(?:fd|ns|map_files)\/.)/;

/** proc(5): with it most files are not there. */
function hasSubset({ options }: SpecMount): boolean {
  return options?.some((word) => /(?:^|,)subset=/.test(word)) === true;
}

function procFile(spec: Spec, mount: SpecMount, [first = "", ...rest]: readonly string[], view: BundleView): KernelFile {
  const ofProcess = first === "self" || first === "thread-self" || (first === "1" && isNew(spec, "pid"));
  if (ofProcess) {
    const below = rest.join("/");
    if (MAGIC.test(below)) return "magic";
    return rest[0] === "task" || rest[0] === "net" ? "unknown" : kindAt(view, `/proc/self/${below}`);
  }
  if (/^\d+$/.test(first) || hasSubset(mount)) return "unknown";
  const kind = kindAt(view, `/proc/${[first, ...rest].join("/")}`);
  // Of these each namespace has its own.
  const isOfNamespace = first === "net" || (first === "sys" && ["net", "user", "fs"].includes(rest[0] ?? ""));
  return kind === "missing" && isOfNamespace ? "unknown" : kind;
}

function kindAt(view: BundleView, path: string): KernelFile {
  const facts = view.stat(path);
  if (facts === undefined) return "missing";
  if (facts === "unknown") return "unknown";
  return facts.kind === "directory" ? "directory" : "file";
}

/** The type of the filesystem that a path of this host is on; undefined: not known. */
export function hostFilesystem(view: BundleView, path: string): string | undefined {
  return mountTable(view)?.at(path)?.type;
}
