/**
 * What init does while the runtime still makes the cgroups: devices, read-only and masked paths, and the bounding set come before the cgroup
 * mount where nothing can tell; then the cgroups are bound one by one as they are made, and joined behind the pivot. A configuration that is not
 * plainly so keeps the usual order.
 */
import { cleanPath } from "../../spec/path.ts";
import { addDevices } from "./devices.ts";
import { addProtectedPaths } from "./paths.ts";
import { addBoundingSet } from "./process.ts";
import type { Scope } from "./scope.ts";

/** Call it before the mount `index` of the configuration, which waits for the cgroups. */
export function addWhileWaiting(scope: Scope, index: number): void {
  const { config, isNew } = scope;
  if (!scope.joinsLate || scope.hasJoined || !isNew("mount")) return;
  const places: string[] = [];
  for (let at = index; at < config.mounts.length; at++) {
    const { kind, target } = config.mounts[at]!;
    const place = cleanPath(target);
    // Below a sysfs of the container's own no link of the image can lead elsewhere.
    if (kind !== "cgroup" || !place.startsWith("/sys/")) return;
    places.push(place);
  }
  if (!hasOwn(scope, index, "/sys", "sysfs") || !hasOwn(scope, index, "/dev", "tmpfs")) return;
  if (config.devices.some(({ path }) => !cleanPath(path).startsWith("/dev/"))) return;
  addDevices(scope);
  scope.hasDevices = true;
  if (isProtectedApart(scope, index, places)) {
    addProtectedPaths(scope);
    scope.hasProtectedPaths = true;
    addBoundingSet(scope);
    scope.hasBoundingSet = true;
    scope.joinsLast = bindsMade(scope);
  }
}

/** Whether the cgroup mount that comes now shows directories which the runtime makes. */
function bindsMade({ host, isNew }: Scope): boolean {
  const join = host.cgroup?.join;
  return join !== undefined && "tasks" in join && host.cgroupVersion === 1 && host.cgroupSources.length > 0 && !isNew("cgroup");
}

/** Whether a mount before `index` puts a file system of this type there. */
function hasOwn({ config }: Scope, index: number, place: string, fstype: string): boolean {
  for (let at = 0; at < index; at++) {
    const mount = config.mounts[at]!;
    if (mount.kind === "filesystem" && mount.fstype === fstype && cleanPath(mount.target) === place) return true;
  }
  return false;
}

/** No hook and no sysctl is between, and no path is above, at or below a cgroup mount. */
function isProtectedApart(scope: Scope, index: number, places: readonly string[]): boolean {
  const { config } = scope;
  const { prestart, createRuntime, createContainer } = config.hooks;
  if (prestart || createRuntime || createContainer || config.sysctl.length > 0 || !hasOwn(scope, index, "/proc", "proc")) return false;
  return isApart(config.readonlyPaths, places) && isApart(config.maskedPaths, places);
}

function isApart(paths: readonly string[], places: readonly string[]): boolean {
  for (const path of paths) {
    const clean = cleanPath(path);
    if (clean.startsWith("/proc/")) continue;
    if (!clean.startsWith("/sys/")) return false;
    for (const place of places) {
      if (`${place}/`.startsWith(`${clean}/`) || clean.startsWith(`${place}/`)) return false;
    }
  }
  return true;
}
