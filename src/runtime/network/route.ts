/** What runt asks of the kernel about network devices, on a socket of host.netlinkOpen: the devices are those of its namespace. */

import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { ADDRESS_MESSAGE, type Address, addRequest, dumpRequest, keptAddress } from "./address.ts";
import { changeRequest, getRequest, LINK_MESSAGE, type Link, type LinkChange, type LinkKey, readLink } from "./link.ts";
import { request } from "./request.ts";

const AF_INET6 = 10;

/** undefined when there is no such device. */
export function findLink(socket: number, key: LinkKey): Link | undefined {
  try {
    const [body] = request(socket, getRequest(key), LINK_MESSAGE);
    return body && readLink(body);
  } catch (error) {
    if (host.isErrno(error, "ENODEV")) return undefined;
    throw error;
  }
}

export function changeLink(socket: number, index: number, change: LinkChange): void {
  request(socket, changeRequest(index, change));
}

/** The permanent addresses of global scope, in the order in which they have to be added to stand in the same order again. */
export function keptAddresses(socket: number, index: number): Address[] {
  const kept = request(socket, dumpRequest(), ADDRESS_MESSAGE).flatMap((body) => keptAddress(body, index) ?? []);
  // Of IPv6 the kernel lists what was added last first.
  return [...kept.filter(({ family }) => family !== AF_INET6), ...kept.filter(({ family }) => family === AF_INET6).reverse()];
}

export function addAddress(socket: number, index: number, address: Address): void {
  request(socket, addRequest(index, address));
}

/** Every network namespace has it, as its first device. */
const LOOPBACK = 1;

/** Of another network namespace, which `path` names. */
export function raiseLoopback(path: string): void {
  const namespace = host.open(path, host.O.RDONLY);
  const socket = host.netlinkOpen(namespace);
  changeLink(socket, LOOPBACK, { up: true });
  host.close(socket);
  host.close(namespace);
}

/** Those that a configuration names and the host does not have. @throws RuntError "config-invalid" */
export function refuseMissingDevices(netDevices: readonly { readonly device: string; readonly from: string }[]): void {
  const socket = host.netlinkOpen();
  for (const { device, from } of netDevices) if (findLink(socket, device) === undefined) throw missingDevice(device, from);
  host.close(socket);
}

export function missingDevice(device: string, pointer: string): RuntError {
  return new RuntError("config-invalid", `linux.netDevices: there is no network device "${device}"`, { pointer });
}
