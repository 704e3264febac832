/**
 * What a filesystem that the kernel itself fills has at a path: it does not exist yet, and this host's own shows what it will have.
 * Of a recorded host only what every kernel has is known.
 */
import { decodeMountPath, type Spec, type SpecMount } from "../../spec/index.ts";
import { BELOW_PROC } from "../mounts/mounts.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import type { NotFound } from "./container-files.ts";
import type { BundleView } from "./view.ts";

/** magic: a link of the kernel's to something open, which create does not follow. unknown: this host's filesystem cannot tell. */
export type KernelFile = "directory" | "file" | "missing" | "magic" | "unknown";

/** Filesystems in which only the kernel makes directories. */
export const OF_THE_KERNEL: readonly string[] = ["proc", "sysfs", "devpts", "mqueue"];

/** @param place opaque: in a mount of the configuration whose content is not known before it is mounted */
export function kernelFile(spec: Spec, place: NotFound, view: BundleView): KernelFile {
  const mount = spec.mounts?.[place.layer.index];
  if (mount === undefined || place.status !== "opaque") return "unknown";
  const whole = [place.parent === "/" ? "" : place.parent, place.name, ...place.rest].join("/");
  const names = whole
    .slice(place.layer.at.length)
    .split("/")
    .filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) return "unknown";
  switch (mount.type) {
    case "devpts":
      return names.length === 1 && names[0] === "ptmx" ? "file" : "missing";
    case "mqueue":
      return isNew(spec, "ipc") ? "missing" : "unknown";
    case "cgroup":
      return cgroupFile(mount, names, view);
    case "sysfs":
      return view.live ? sysfsFile(names, view) : "unknown";
    case "proc":
      if (view.live) return procFile(spec, mount, names, view);
      return hasSubset(mount) || !BELOW_PROC.includes(names.join("/")) ? "unknown" : "file";
    default:
      return "unknown";
  }
}

function isNew(spec: Spec, type: string): boolean {
  const namespace = namespaceOf(spec, type);
  return namespace !== undefined && !namespace.path;
}

/** Of cgroup v1 a directory for each hierarchy, and links by the names of controllers; a read-only one takes nothing else. */
function cgroupFile({ options }: SpecMount, names: readonly string[], { facts: { cgroup } }: BundleView): KernelFile {
  if (cgroup?.version !== 1 || names.length !== 1) return "unknown";
  const known = cgroup.hierarchies.flatMap(({ mountpoint, controllers }) => [mountpoint.split("/").at(-1) ?? "", ...controllers]);
  if (known.includes(names[0] ?? "")) return "directory";
  return isReadOnly(options ?? []) ? "missing" : "unknown";
}

/** Whether the last word on it says so. */
export function isReadOnly(options: readonly string[]): boolean {
  return options.lastIndexOf("ro") > options.lastIndexOf("rw") || options.includes("rro");
}

/** A new sysfs has none of the mounts that this host has below its own. */
function sysfsFile(names: readonly string[], view: BundleView): KernelFile {
  const path = `/sys/${names.join("/")}`;
  if (mountPoints(view).some((point) => point.startsWith("/sys/") && path.startsWith(`${point}/`))) return "missing";
  const kind = kindAt(view, path);
  // Interfaces are those of a network namespace.
  return kind === "missing" && names.includes("net") ? "unknown" : kind;
}

/** proc_pid(5): links to what a process has open, and what would be below them. */
const MAGIC = /^(?:task\/\d+\/)?(?:(?:cwd|exe|root)(?:\/|$)|(?:fd|ns|map_files)\/.)/;

/** proc(5): with it most files are not there. */
function hasSubset({ options }: SpecMount): boolean {
  return options?.some((word) => word.startsWith("subset=")) === true;
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

/** proc_pid_mountinfo(5) of the caller. */
function mountPoints(view: BundleView): readonly string[] {
  const lines = view.text("/proc/self/mountinfo")?.split("\n") ?? [];
  return lines.map((line) => decodeMountPath(line.split(" ", 5)[4] ?? ""));
}

/** The type of the filesystem that a path of this host is on; undefined: not known. */
export function hostFilesystem(view: BundleView, path: string): string | undefined {
  const lines = (view.live ? view.text("/proc/self/mountinfo") : undefined)?.split("\n") ?? [];
  let [longest, type]: [number, string | undefined] = [-1, undefined];
  for (const line of lines) {
    const [before = "", behind = ""] = line.split(" - ", 2);
    const point = decodeMountPath(before.split(" ", 5)[4] ?? "");
    const isAbove = point === "/" || path === point || path.startsWith(`${point}/`);
    // Of two at one place the later covers the earlier.
    if (point !== "" && isAbove && point.length >= longest) [longest, type] = [point.length, behind.split(" ", 1)[0]];
  }
  return type;
}
