import { cleanPath, type Spec } from "../../spec/index.ts";
import type { Found, NotFound } from "../host/container-files.ts";
import type { HostCheck } from "../host/host-check.ts";
import { namespaceOf } from "../namespaces/namespaces.ts";
import { isBind } from "./words.ts";

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
