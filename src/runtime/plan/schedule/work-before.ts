/** What init can do before the first mount of cgroups instead of behind the last mount: only where nothing can tell the difference. */
import type { ContainerConfig } from "../../config/index.ts";
import { cleanPath } from "../../spec/index.ts";
import type { CompileInput } from "../input.ts";

/** everything: beside the devices, read-only and masked paths, and the bounding set. undefined: nothing. `index`: of that mount; negative if there is none. */
export function workBefore({ config }: CompileInput, index: number): "devices" | "everything" | undefined {
  if (index < 0 || !config.namespaces.some(({ type, path }) => type === "mount" && path === undefined)) return undefined;
  const places: string[] = [];
  for (let at = index; at < config.mounts.length; at++) {
    const { kind, target } = config.mounts[at]!;
    const place = cleanPath(target);
    // Below a sysfs of the container's own no link of the image can lead elsewhere.
    if (kind !== "cgroup" || !place.startsWith("/sys/")) return undefined;
    places.push(place);
  }
  if (!hasOwn(config, index, "/sys", "sysfs") || !hasOwn(config, index, "/dev", "tmpfs")) return undefined;
  if (config.devices.some(({ path }) => !cleanPath(path).startsWith("/dev/"))) return undefined;
  return isProtectedApart(config, index, places) ? "everything" : "devices";
}

/** Whether a mount before `index` puts a file system of this type there. */
function hasOwn({ mounts }: ContainerConfig, index: number, place: string, fstype: string): boolean {
  for (let at = 0; at < index; at++) {
    const mount = mounts[at]!;
    if (mount.kind === "filesystem" && mount.fstype === fstype && cleanPath(mount.target) === place) return true;
  }
  return false;
}

/** No hook and no sysctl is between, and no path is above, at or below a cgroup mount. */
function isProtectedApart(config: ContainerConfig, index: number, places: readonly string[]): boolean {
  const { prestart, createRuntime, createContainer } = config.hooks;
  if (prestart || createRuntime || createContainer || config.sysctl.length > 0 || !hasOwn(config, index, "/proc", "proc")) return false;
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
