/** Network devices that a configuration names and the host does not have. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { findLink } from "./route.ts";

/** @throws RuntError "config-invalid" */
export function refuseMissingDevices(netDevices: readonly { readonly device: string; readonly from: string }[]): void {
  const socket = host.netlinkOpen();
  for (const { device, from } of netDevices) if (findLink(socket, device) === undefined) throw missingDevice(device, from);
  host.close(socket);
}

export function missingDevice(device: string, pointer: string): RuntError {
  return new RuntError("config-invalid", `linux.netDevices: there is no network device "${device}"`, { pointer });
}
