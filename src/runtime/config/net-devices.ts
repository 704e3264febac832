/** linux.netDevices, in the order of the configuration. */
import { pointerToken, type SpecLinux } from "../spec/index.ts";
import type { NetDeviceConfig } from "./types.ts";

/** An empty name is an absent one. */
export function deriveNetDevices(devices: SpecLinux["netDevices"]): readonly NetDeviceConfig[] {
  return Object.entries(devices ?? {}).map(([device, { name }]) => ({
    from: `/linux/netDevices/${pointerToken(device)}`,
    device,
    name: name || device,
  }));
}
