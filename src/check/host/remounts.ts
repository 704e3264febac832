import { namespaceOf } from "../namespaces.ts";
import { isBind } from "../spec/mount-words.ts";
import type { HostCheck } from "./host-check.ts";
import type { Found, NotFound } from "./scene.ts";

/** mount(2), MS_REMOUNT: the target is the top of a mount that is there. */
export const remountTargets: HostCheck = (spec, report, { view, scene }) => {
  const namespace = namespaceOf(spec, "mount");
  // In a mount namespace of somebody else anything may be mounted.
  if (scene === undefined || namespace === undefined || namespace.path) return;
  spec.mounts?.forEach((mount, index) => {
    const place = mount.options?.includes("remount") ? scene.destination(index) : undefined;
    if (place === undefined || (place.status === "found" && place.path === place.layer.at)) return;
    const layer = spec.mounts?.[place.layer.index];
    // The hierarchies of cgroup v1 are below it.
    if (layer?.type === "cgroup") return;
    // What comes along with the root filesystem, or with a bind mount, brings mounts of its own.
    if ((layer === undefined || isBind(layer)) && mayBeMounted(place, view.text("/proc/self/mountinfo"))) return;
    report.error(
      "remount-not-mounted",
      `/mounts/${index}/destination`,
      `nothing is mounted on "${mount.destination}" that could be remounted`,
    );
  });
};

/** proc_pid_mountinfo(5): some mount of the host has a name that ends like the place. */
function mayBeMounted(place: Found | NotFound, mountinfo = ""): boolean {
  const name = place.status === "found" ? place.path.slice(place.path.lastIndexOf("/")) : `/${[place.name, ...place.rest].at(-1)}`;
  return mountinfo.split("\n").some((line) => line.split(" ", 5)[4]?.endsWith(name));
}
