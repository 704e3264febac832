/** The device nodes of the container: the defaults of the specification, then linux.devices, which win. */
import { cleanPath, cleanTarget, type SpecDevice, type SpecMount } from "../spec/index.ts";
import type { DeviceNode } from "./types.ts";

const node = (path: string, major: number, minor: number): DeviceNode => ({
  from: "",
  path,
  type: "c",
  major,
  minor,
  mode: 0o666,
  uid: 0,
  gid: 0,
});

/** config-linux, default devices; /dev/console and /dev/ptmx are made elsewhere. */
export const DEFAULT_DEVICES: readonly DeviceNode[] = [
  node("/dev/null", 1, 3),
  node("/dev/zero", 1, 5),
  node("/dev/full", 1, 7),
  node("/dev/random", 1, 8),
  node("/dev/urandom", 1, 9),
  node("/dev/tty", 5, 0),
];

/** Type u is the unbuffered spelling of c; a fifo has no numbers. */
function deviceNode(device: SpecDevice, index: number): DeviceNode {
  const type = device.type === "u" ? "c" : (device.type as DeviceNode["type"]);
  const numbered = type !== "p";
  return {
    from: `/linux/devices/${index}`,
    path: cleanPath(device.path),
    type,
    major: numbered ? Number(device.major ?? 0) : 0,
    minor: numbered ? Number(device.minor ?? 0) : 0,
    mode: (device.fileMode ?? 0o666) & 0o7777,
    uid: device.uid ?? 0,
    gid: device.gid ?? 0,
  };
}

/** The place of a link of every container, which takes the place of what is there: a bound node could not be taken away for it. */
const PTMX = "/dev/ptmx";

/** @param mounted where `mounts` puts something in /dev */
export function deriveDevices(devices: readonly SpecDevice[], mounted: ReadonlySet<string> = new Set()): readonly DeviceNode[] {
  const defaults = mounted.size === 0 ? DEFAULT_DEVICES : DEFAULT_DEVICES.filter(({ path }) => !mounted.has(path));
  if (devices.length === 0) return defaults;
  const nodes = new Map(defaults.map((device) => [device.path, device]));
  for (let index = 0; index < devices.length; index++) {
    const device = deviceNode(devices[index] as SpecDevice, index);
    if (device.path !== PTMX) nodes.set(device.path, device);
  }
  return [...nodes.values()];
}

/**
 * The paths directly in /dev where `mounts` puts something. There it stands instead of the default node or link, as with runc and crun, which
 * leave what is there already. A later mount on /dev hides those before it.
 */
export function mountedInDev(mounts: readonly SpecMount[] | null | undefined): ReadonlySet<string> {
  const paths = new Set<string>();
  for (const { destination, options } of mounts ?? []) {
    const path = cleanTarget(destination);
    if (options?.includes("remount")) continue;
    if (path === "/dev" || path === "/") paths.clear();
    else if (path.startsWith("/dev/")) paths.add(path);
  }
  return paths;
}
