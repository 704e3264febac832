import { MS } from "../../../shared/linux/index.ts";
import { MOUNT_OPTIONS } from "../../config/index.ts";
import type { Spec, SpecMount } from "../../spec/index.ts";
import type { Report } from "../finding.ts";
import { findThroughOwnLink, throughOwnLink } from "../host/access.ts";
import { absolute, type HostCheck } from "../host/container-files.ts";
import { isNew, type KernelFile, kernelFile } from "../host/kernel-files.ts";
import { isEmptyAtFirst, type Refusal, whyNotMade } from "../host/making.ts";
import type { BundleView, FileFacts } from "../host/view.ts";
import { isBind } from "./words.ts";

/** What is mounted: a directory, a file, or "unknown". */
function kindOfSource(mount: SpecMount, view: BundleView): FileFacts["kind"] | "unknown" {
  if (!isBind(mount)) return "directory";
  if (!mount.source || !view.live) return "unknown";
  const facts = view.stat(absolute(view.bundle ?? "/", mount.source));
  return facts === undefined || facts === "unknown" ? "unknown" : facts.kind;
}

/** config, mounts: a directory goes on a directory and a file on a file; what is not there is made, if it can be. */
export const mountPlaces: HostCheck = (spec, report, { view, files }) => {
  if (files === undefined) return;
  const { mounts } = spec;
  mounts?.forEach((mount, index) => {
    if (mount.options?.includes("remount") || mount.options?.includes("dest-nofollow")) return;
    const place = files.destination(index);
    if (place === undefined) return;
    const pointer = `/mounts/${index}/destination`;
    const source = kindOfSource(mount, view);
    if (place.status === "opaque") {
      const around = mounts[place.layer.index];
      reportInKernel(mount, kernelFile(spec, place, view), source, around?.type ?? "", pointer, report);
      if (around && isEmptyAtFirst(around)) reportNotMade(mount, whyNotMade(place, spec, files, view), pointer, report);
      return;
    }
    if (place.status === "loop") {
      report.error("path-links", pointer, `"${mount.destination}" leads over links in a circle, or over too many of them`);
      return;
    }
    if (place.status === "found") {
      if (source === "unknown" || (source === "directory") === (place.facts.kind === "directory")) return;
      const [what, there] = source === "directory" ? ["a directory", `a ${nameOf(place.facts)}`] : ["a file", "a directory"];
      report.error("mount-kind", pointer, `${what} cannot be mounted on "${mount.destination}", which is ${there}`);
    } else if (place.status === "missing") reportNotMade(mount, whyNotMade(place, spec, files, view), pointer, report);
    else if (place.status === "not-a-directory")
      report.error("mount-kind", pointer, `"${place.parent}", on the way to "${mount.destination}", is not a directory`);
  });
};

function reportNotMade({ destination }: SpecMount, refusal: Refusal | undefined, pointer: string, report: Report): void {
  if (refusal === undefined) return;
  if (refusal.kind === "rights") report.error("mount-point-denied", pointer, `"${destination}" is not there, and ${refusal.reason}`);
  else
    report.error(
      refusal.kind === "read-only" ? "mount-point-read-only" : "mount-point-kernel",
      pointer,
      `"${destination}" is not there and cannot be made: ${refusal.reason}`,
    );
}

/** In a filesystem of the kernel there is what the kernel has, and files of message queues. */
function reportInKernel(
  { destination }: SpecMount,
  there: KernelFile,
  source: ReturnType<typeof kindOfSource>,
  type: string,
  pointer: string,
  report: Report,
): void {
  const isFile = source !== "directory" && source !== "unknown";
  if (there === "magic")
    report.error("path-links", pointer, `"${destination}" leads over a link of the kernel's to what a process has open`);
  else if (there === "missing" && !(type === "mqueue" && source !== "directory"))
    report.error(
      "mount-point-kernel",
      pointer,
      `"${destination}" is not there and cannot be made: only the kernel makes files in a filesystem of type ${type}`,
    );
  else if (source === "directory" && there === "file")
    report.error("mount-kind", pointer, `a directory cannot be mounted on "${destination}", which is a file`);
  else if (isFile && there === "directory")
    report.error("mount-kind", pointer, `a file cannot be mounted on "${destination}", which is a directory`);
}

function nameOf({ kind }: FileFacts): string {
  return kind === "file" || kind === "fifo" || kind === "socket" ? kind : `${kind} device`;
}

/** mount(2): a read-only path is a bind mount of itself, and what lies in an unbindable mount cannot be bound. */
export const readonlyPathsBindable: HostCheck = ({ linux, mounts }, report, { view, files }) => {
  if (files === undefined) return;
  linux?.readonlyPaths?.forEach((path, index) => {
    const place = files.find(path);
    const mount = mounts?.[place.layer.index];
    if (mount === undefined || !isUnbindable(mount)) return;
    // A path that does not exist is left out. What a procfs has, the host knows.
    const isThere = place.status === "found" || (place.status === "opaque" && mount.type === "proc" && view.live && !!view.stat(path));
    if (!isThere) return;
    report.error(
      "hidden-path-unbindable",
      `/linux/readonlyPaths/${index}`,
      `linux.readonlyPaths: "${path}" lies in the mount of ${mount.destination}, which is unbindable`,
    );
  });
};

/** path_resolution(7): a path that is not there is left out, one that cannot be resolved is refused. */
export const hiddenPathLinks: HostCheck = (spec, report, { view, files }) => {
  if (files === undefined) return;
  const masked = (spec.linux?.maskedPaths ?? []).map((path) => throughOwnLink(spec, path));
  for (const field of ["maskedPaths", "readonlyPaths"] as const)
    spec.linux?.[field]?.forEach((path, index) => {
      const place = findThroughOwnLink(spec, files, path);
      const isMagic = place.status === "opaque" && kernelFile(spec, place, view) === "magic";
      if (
        (place.status !== "loop" && !isMagic) ||
        isMasked(spec, throughOwnLink(spec, path), field === "maskedPaths" ? masked.slice(0, index) : masked)
      )
        return;
      const over = isMagic ? "a link of the kernel's to what a process has open" : "links in a circle, or over too many of them";
      report.error("path-links", `/linux/${field}/${index}`, `linux.${field}: "${path}" leads over ${over}`);
    });
};

/** What is below a path that was masked before is not there any more. */
function isMasked(spec: Spec, path: string, masked: readonly string[]): boolean {
  // The directories of the container's first process. Without a PID namespace of its own it is not process 1.
  const ofProcess = ["/proc", "/proc/self", ...(isNew(spec, "pid") ? ["/proc/1"] : [])];
  return masked.some((one) => ofProcess.includes(one) || path.startsWith(`${one}/`));
}

function isUnbindable({ options }: SpecMount): boolean {
  const words = options?.map((word) => MOUNT_OPTIONS.get(word)?.propagation ?? 0).filter((propagation) => propagation !== 0) ?? [];
  return ((words.at(-1) ?? 0) & MS.UNBINDABLE) !== 0;
}
