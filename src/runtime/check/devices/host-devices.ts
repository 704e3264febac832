import { DEFAULT_DEVICES, mountedInDev } from "../../config/index.ts";
import { cleanPath, type Spec } from "../../spec/index.ts";
import { hasHostDev, OWN_LINKS } from "../host/access.ts";
import type { ContainerFiles, Found, HostCheck, NotFound } from "../host/container-files.ts";
import { isBesideHierarchies, kernelFile } from "../host/kernel-files.ts";
import { isEmptyAtFirst, whyNotMade } from "../host/making.ts";
import type { BundleView, FileFacts } from "../host/view.ts";
import { isBind } from "../mounts/words.ts";
import { isMapped } from "../namespaces/id-mappings.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { hasIdMaps } from "./devices.ts";

/** Filesystems in which mknod(2) makes nothing. */
const WITHOUT_NODES = ["devpts", "proc", "sysfs", "cgroup", "cgroup2", "mqueue"];
const isCgroupMount = (type: string | null | undefined): boolean => type === "cgroup" || type === "cgroup2";

/** config-linux, devices: numbers that the host has another device for, or no driver. */
export const deviceFiles: HostCheck = ({ linux }, report, { view }) => {
  const drivers = view.live ? view.text("/proc/devices") : undefined;
  linux?.devices?.forEach((device, index) => {
    const pointer = `/linux/devices/${index}`;
    const path = cleanPath(device.path);
    const [major, minor] = [Number(device.major ?? 0), Number(device.minor ?? 0)];
    const kind = device.type === "b" ? "block" : device.type === "p" ? "fifo" : "char";
    if (view.live && kind !== "fifo") {
      const own = view.stat(path);
      if (own !== undefined && own !== "unknown" && own.kind === kind && (own.major !== major || own.minor !== minor))
        report.warning("device-differs", pointer, `"${path}" is ${own.major}:${own.minor} on this host, here ${major}:${minor}`);
      else if (drivers !== undefined && !hasDriver(drivers, kind, major))
        report.warning("device-driver", pointer, `"${path}": no driver of this host has the ${kind} number ${major}`);
    }
  });
};

/** user_namespaces(7): a node that is made for a user namespace is of somebody who has an id in it. */
export const deviceOwners: HostCheck = (spec, report, { view: { facts } }) => {
  const isBoundOnly = facts.caller?.uid !== 0 || facts.caller.inUserNamespace || !hasIdMaps(spec);
  if (namespaceOf(spec, "user") === undefined || isBoundOnly || hasHostDev(spec)) return;
  const devices = spec.linux?.devices ?? [];
  const last = new Map(devices.map(({ path }, index) => [cleanPath(path), index]));
  devices.forEach(({ path, type, ...owner }, index) => {
    if (type === "p" || last.get(cleanPath(path)) !== index) return;
    for (const field of ["uid", "gid"] as const) {
      const id = owner[field] ?? 0;
      if (isMapped(spec.linux?.[`${field}Mappings`] ?? [], id)) continue;
      const message = `linux.devices: "${path}" is of ${field} ${id}, which is not mapped in linux.${field}Mappings`;
      report.error("device-owner-not-mapped", `/linux/devices/${index}/${field}`, message);
    }
  });
};

/** This link of every container takes the place of what is there. */
const REPLACING = "/dev/ptmx";

interface Wanted {
  readonly path: string;
  /** Where it is asked for; undefined: every container has it. */
  readonly pointer?: string;
  readonly kind: FileFacts["kind"];
  readonly major: number;
  readonly minor: number;
}

/** config-linux, devices and default devices: each goes where nothing is, or where it is already. */
export const devicePlaces: HostCheck = (spec, report, { files, view }) => {
  if (files === undefined || hasHostDev(spec)) return;
  const wanted = wantedNodes(spec);
  const mounted = mountedInDev(spec.mounts);
  for (const node of [...wanted, ...wantedLinks(wanted)]) {
    if (node.pointer === undefined && node.path !== REPLACING && mounted.has(node.path)) continue;
    const problem = nestingProblem(node, wanted) ?? placeProblem(node, spec, files, view);
    if (problem === undefined) continue;
    const { code, message, layer } = problem;
    const pointer = node.pointer ?? (layer === undefined || layer < 0 ? "/root/path" : `/mounts/${layer}/destination`);
    report.error(code, pointer, message, code === "device-in-the-way" && layer === -1 ? IN_THE_IMAGE : undefined);
    // Of the others of every container the same would be said.
    if (node.pointer === undefined) return;
  }
};

const IN_THE_IMAGE = "remove it from the image, or mount a tmpfs on /dev";

/** Of one path the last entry counts. */
function wantedNodes({ linux }: Spec): readonly Wanted[] {
  const nodes = new Map<string, Wanted>(DEFAULT_DEVICES.map(({ path, major, minor }) => [path, { path, kind: "char", major, minor }]));
  linux?.devices?.forEach(({ path, type, major, minor }, index) => {
    const clean = cleanPath(path);
    // Only the link is made.
    if (clean === REPLACING) return;
    const kind = type === "b" ? "block" : type === "p" ? "fifo" : "char";
    const pointer = `/linux/devices/${index}/path`;
    nodes.set(clean, { path: clean, pointer, kind, major: Number(major ?? 0), minor: Number(minor ?? 0) });
  });
  return [...nodes.values()];
}

function wantedLinks(nodes: readonly Wanted[]): readonly Wanted[] {
  const link = (path: string): Wanted => {
    // A node at its place has been asked for.
    const pointer = nodes.find((node) => node.path === path)?.pointer;
    return { path, kind: "symlink", major: 0, minor: 0, ...(pointer !== undefined && { pointer }) };
  };
  return [...Object.keys(OWN_LINKS), REPLACING].map(link);
}

interface Problem {
  readonly code: string;
  readonly message: string;
  /** Entry of `mounts`, -1 for the root filesystem; undefined: neither has it. */
  readonly layer?: number;
}

/** Two of them cannot be at one place, nor one in the other. */
function nestingProblem({ path, kind, pointer }: Wanted, nodes: readonly Wanted[]): Problem | undefined {
  if (pointer === undefined) return undefined;
  const other = [...nodes.map((node) => node.path), ...(kind === "symlink" ? [] : [...Object.keys(OWN_LINKS), REPLACING])].find(
    (one) => path.startsWith(`${one}/`) || one.startsWith(`${path}/`) || (one === path && (kind === "symlink" || one in OWN_LINKS)),
  );
  if (other === undefined) return undefined;
  const message = other === path ? `"${path}" is a link in every container` : `"${path}" and "${other}" cannot both be there`;
  return { code: "device-in-the-way", message };
}

function placeProblem(node: Wanted, spec: Spec, files: ContainerFiles, view: BundleView): Problem | undefined {
  const { path } = node;
  const place = files.entry(path);
  const layer = place.layer.index;
  const around = spec.mounts?.[layer];
  // The runtime goes to /dev without links: what they lead to may be a volume.
  const isLinked = path.startsWith("/dev/") && place.status !== "not-a-directory" && pathOf(place) !== path;
  if (place.status === "loop" || isLinked)
    return { code: "path-links", message: `the way to the device "${path}" leads over links, which are not followed`, layer };
  if (place.status === "not-a-directory")
    return { code: "device-in-the-way", message: `"${place.parent}", on the way to "${path}", is not a directory`, layer };
  if (place.status === "opaque") {
    if (around === undefined) return undefined;
    if (isEmptyAtFirst(around) || (isCgroupMount(around.type) && isBesideHierarchies(place, view)))
      return refusalAt(place, spec, files, view, path);
    if (!WITHOUT_NODES.includes(around.type ?? "")) return undefined;
    if (canBeThere(node, place, spec, view)) return undefined;
    const message = `no node can be made at "${path}": ${around.destination} is a filesystem of type ${around.type}`;
    return { code: "device-place", message, layer };
  }
  if (place.status === "missing") return refusalAt(place, spec, files, view, path);
  if (place.status !== "found") return undefined;
  // Before it is mounted, nobody knows what a bind mount is.
  if (around !== undefined && isBind(around) && place.layer.files === undefined) return undefined;
  if (isThere(node, place, spec, view)) return undefined;
  const where =
    layer === -1 ? "the root filesystem has" : place.path === place.layer.at ? "a mount puts" : `the mount of ${place.layer.at} has`;
  return { code: "device-in-the-way", message: `${where} ${describe(place)} at "${path}", where ${describeWanted(node)} is made`, layer };
}

function refusalAt(place: NotFound, spec: Spec, files: ContainerFiles, view: BundleView, path: string): Problem | undefined {
  const refusal = whyNotMade(place, spec, files, view);
  return refusal && { code: "device-place", message: `no node can be made at "${path}": ${refusal.reason}`, layer: place.layer.index };
}

/** A node that is bound needs something to be bound on: a file, which can be made in mqueue alone. The node that devpts has may be asked for. */
function canBeThere(node: Wanted, place: NotFound, spec: Spec, view: BundleView): boolean {
  const type = spec.mounts?.[place.layer.index]?.type;
  const there = kernelFile(spec, place, view);
  if (!isBound(node, spec, view))
    return type === "devpts" && there === "file" && node.kind === "char" && node.major === 5 && node.minor === 2;
  const isName = place.parent === place.layer.at && place.rest.length === 0;
  return type === "mqueue" ? isName : there === "file" || there === "unknown";
}

function pathOf(place: Found | NotFound): string {
  if (place.status === "found") return place.path;
  return [place.parent === "/" ? "" : place.parent, place.name, ...place.rest].join("/");
}

/** In a user namespace the host's node is bound over what is there. */
function isBound({ kind }: Wanted, spec: Spec, { facts: { caller } }: BundleView): boolean {
  return (kind === "char" || kind === "block") && (namespaceOf(spec, "user") !== undefined || (caller?.uid ?? 0) !== 0);
}

function isThere(node: Wanted, { facts, tree, inTree, layer }: Found, spec: Spec, view: BundleView): boolean {
  const { path, kind, major, minor } = node;
  if (path === REPLACING && kind === "symlink") return facts.kind !== "directory" && layer.at !== path;
  if (kind === "symlink") return facts.kind === "symlink" && tree.link(inTree) === OWN_LINKS[path];
  if (isBound(node, spec, view)) return facts.kind !== "directory" && facts.kind !== "symlink";
  return facts.kind === kind && (kind === "fifo" || (facts.major === major && facts.minor === minor));
}

function describe({ facts: { kind, major, minor } }: Found): string {
  return kind === "char" || kind === "block" ? `the ${kind} device ${major}:${minor}` : kind === "symlink" ? "a link" : `a ${kind}`;
}

function describeWanted({ kind, major, minor }: Wanted): string {
  return kind === "symlink" ? "a link" : kind === "fifo" ? "a fifo" : `the ${kind} device ${major}:${minor}`;
}

/** proc(5), /proc/devices: two lists, of which the second is that of block devices. */
function hasDriver(text: string, kind: "block" | "char", major: number): boolean {
  const [chars = "", blocks = ""] = text.split("Block devices:");
  return new RegExp(`^\\s*${major}\\s`, "m").test(kind === "block" ? blocks : chars);
}
