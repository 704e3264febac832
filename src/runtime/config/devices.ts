/** The device nodes of the container: the defaults of the specification, then linux.devices, which win. */
import { cleanPath, type SpecDevice } from "../spec/index.ts";
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

export function deriveDevices(devices: readonly SpecDevice[]): readonly DeviceNode[] {
  if (devices.length === 0) return DEFAULT_DEVICES;
  const nodes = new Map(DEFAULT_DEVICES.map((device) => [device.path, device]));
  for (let index = 0; index < devices.length; index++) {
    const device = deviceNode(devices[index] as SpecDevice, index);
    nodes.set(device.path, device);
  }
  return [...nodes.values()];
}
