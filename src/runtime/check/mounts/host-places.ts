import { cleanTarget, type SpecMount } from "../../spec/index.ts";
import { mayMakeIn, type NamespaceRoot, userNamespaceRoot } from "../host/access.ts";
import { absolute, type ContainerFiles, type NotFound } from "../host/container-files.ts";
import type { HostCheck } from "../host/host-check.ts";
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
  const maker = userNamespaceRoot(spec);
  mounts?.forEach((mount, index) => {
    if (mount.options?.includes("remount") || mount.options?.includes("dest-nofollow")) return;
    const place = files.destination(index);
    if (place === undefined) return;
    const pointer = `/mounts/${index}/destination`;
    const source = kindOfSource(mount, view);
    if (place.status === "opaque") {
      const there = cleanTarget(mount.destination);
      // All that may be mounted on in a procfs (mount-inside-proc) are files.
      if (source === "directory" && there.startsWith("/proc/"))
        report.error("mount-kind", pointer, `a directory cannot be mounted on "${mount.destination}", which is a file`);
      else if (source !== "directory" && source !== "unknown" && there === "/sys/fs/cgroup" && mounts[place.layer.index]?.type === "sysfs")
        report.error("mount-kind", pointer, `a file cannot be mounted on "${mount.destination}", which is a directory`);
      return;
    }
    if (place.status === "found") {
      if (source === "unknown" || (source === "directory") === (place.facts.kind === "directory")) return;
      const [what, there] = source === "directory" ? ["a directory", `a ${nameOf(place.facts)}`] : ["a file", "a directory"];
      report.error("mount-kind", pointer, `${what} cannot be mounted on "${mount.destination}", which is ${there}`);
    } else if (place.status === "missing") {
      // A caller without rights cannot write to a root filesystem of another user, and no caller can write to a read-only one.
      const readOnly = readOnlyReason(place, files);
      if (maker !== undefined && isForeign(place, files, maker))
        report.error(
          "mount-point-denied",
          pointer,
          `"${mount.destination}" is not there, and the container's root, uid ${maker.uid} on the host, may not make it in ${place.parent}`,
        );
      else if (readOnly !== undefined)
        report.error("mount-point-read-only", pointer, `"${mount.destination}" is not there and cannot be made: ${readOnly}`);
    } else if (place.status === "not-a-directory")
      report.error("mount-kind", pointer, `"${place.parent}", on the way to "${mount.destination}", is not a directory`);
  });
};

/** In the root filesystem, in a directory that the container's root has no right to write to. */
function isForeign({ layer, parent }: NotFound, files: ContainerFiles, maker: NamespaceRoot): boolean {
  const directory = layer.index === -1 ? files.find(parent) : undefined;
  return directory?.status === "found" && !mayMakeIn(maker, directory.facts);
}

function nameOf({ kind }: FileFacts): string {
  return kind === "file" || kind === "fifo" || kind === "socket" ? kind : `${kind} device`;
}

/** Why nothing can be made there. */
function readOnlyReason({ parent, layer }: NotFound, { root }: ContainerFiles): string | undefined {
  if (layer.index === -1) return root.isWritable("/") ? undefined : "the root filesystem lies on a read-only one";
  const readOnly = layer.options.lastIndexOf("ro") > layer.options.lastIndexOf("rw") || layer.options.includes("rro");
  return readOnly ? `${parent} is in the read-only mount of ${layer.at}` : undefined;
}
