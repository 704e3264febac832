import { MS } from "../../../shared/linux/index.ts";
import { MOUNT_OPTIONS } from "../../config/index.ts";
import type { SpecMount } from "../../spec/index.ts";
import type { HostCheck } from "../host/host-check.ts";
import { kernelFile } from "../host/kernel-files.ts";
import { findThroughOwnLink, throughOwnLink } from "../host/own-links.ts";

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
        isMasked(throughOwnLink(spec, path), field === "maskedPaths" ? masked.slice(0, index) : masked)
      )
        return;
      const over = isMagic ? "a link of the kernel's to what a process has open" : "links in a circle, or over too many of them";
      report.error("path-links", `/linux/${field}/${index}`, `linux.${field}: "${path}" leads over ${over}`);
    });
};

/** The directories of the container's first process. */
const OF_PROCESS = ["/proc", "/proc/1", "/proc/self"];

/** What is below a path that was masked before is not there any more. */
function isMasked(path: string, masked: readonly string[]): boolean {
  return masked.some((one) => OF_PROCESS.includes(one) || path.startsWith(`${one}/`));
}

function isUnbindable({ options }: SpecMount): boolean {
  const words = options?.map((word) => MOUNT_OPTIONS.get(word)?.propagation ?? 0).filter((propagation) => propagation !== 0) ?? [];
  return ((words.at(-1) ?? 0) & MS.UNBINDABLE) !== 0;
}
