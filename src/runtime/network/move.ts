/** A network device on its way into another network namespace, and back. */

import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { ADDRESS_MESSAGE, type Address, addRequest, dumpRequest, keptAddress, relabelled } from "./address.ts";
import { changeRequest, getRequest, LINK_MESSAGE, type Link, type LinkChange, type LinkKey, readLink, utf8 } from "./link.ts";
import { request } from "./request.ts";

/** Descriptors of two network namespaces, that of this process and another one, each with a route socket in it. */
export interface NamespacePair {
  readonly outside: number;
  readonly outsideSocket: number;
  readonly inside: number;
  readonly insideSocket: number;
}

/** What it takes to bring a device back. Plain data: it is kept in the state record too. */
export interface MovedDevice {
  /** Its name outside. */
  readonly name: string;
  /** Its name between the two, until it has the one that is asked for. */
  readonly temporary: string;
  /** Its number inside; 0 until it is known to have arrived. */
  readonly index: number;
  readonly hardwareAddress: readonly number[];
  readonly up: boolean;
  readonly addresses: readonly Address[];
}

/** Keeps the other namespace until this process ends, also when all its processes have ended. */
export function openPair(path: string): NamespacePair {
  const outside = host.open("/proc/self/ns/net", host.O.RDONLY);
  const inside = host.open(path, host.O.RDONLY | host.O.NONBLOCK | host.O.NOCTTY);
  return { outside, outsideSocket: host.netlinkOpen(), inside, insideSocket: host.netlinkOpen(inside) };
}

/** undefined when there is no such device outside. */
export function describeDevice({ outsideSocket }: NamespacePair, device: string): MovedDevice | undefined {
  const link = findLink(outsideSocket, device);
  if (link === undefined) return undefined;
  const { name, index, hardwareAddress, up } = link;
  // Numbers are unique in a namespace, so two devices of one never meet under way.
  return { name, temporary: `runt${index}`, index: 0, hardwareAddress, up, addresses: keptAddresses(outsideSocket, index) };
}

/** The first of these names that a device inside has already. */
export function takenName({ insideSocket }: NamespacePair, names: readonly string[]): string | undefined {
  return names.find((name) => findLink(insideSocket, name) !== undefined);
}

/**
 * Returns its number inside. The kernel takes a device down and its addresses away. In one message it first moves and then renames,
 * and would leave the device there if it cannot have the name: so it gets one that nobody has first.
 */
export function moveIn({ outsideSocket, inside, insideSocket }: NamespacePair, { name, temporary }: MovedDevice): number {
  changeLink(outsideSocket, present(outsideSocket, name), { name: temporary, namespace: inside });
  return present(insideSocket, temporary);
}

/** Give an arrived device its name (with one %d the kernel completes it) and its addresses, and set it up. */
export function settle({ insideSocket }: NamespacePair, { index, name, addresses }: MovedDevice, wanted: string): void {
  changeLink(insideSocket, index, { name: wanted });
  const [from, to] = [utf8(name), utf8(findLink(insideSocket, index)?.name ?? wanted)];
  for (const address of addresses) addAddress(insideSocket, index, relabelled(address, from, to));
  changeLink(insideSocket, index, { up: true });
}

/** To its name, addresses and state outside, unless it is not inside (any more). */
export function moveBack({ outside, outsideSocket, insideSocket }: NamespacePair, device: MovedDevice): void {
  const { name, temporary, index, hardwareAddress, up, addresses } = device;
  const link = findLink(insideSocket, index === 0 ? temporary : index);
  // After a crash the namespace may be another one by now.
  if (link === undefined || String(link.hardwareAddress) !== String(hardwareAddress)) return;
  changeLink(insideSocket, link.index, { name, namespace: outside });
  const back = present(outsideSocket, name);
  for (const address of addresses) addAddress(outsideSocket, back, address);
  if (up) changeLink(outsideSocket, back, { up: true });
}

function present(socket: number, name: string): number {
  const link = findLink(socket, name);
  if (link === undefined) throw new Error(`network device ${name} has vanished`);
  return link.index;
}

/*
 * What runt asks of the kernel about network devices, on a socket of host.netlinkOpen: the devices are those of its namespace.
 */

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

function addAddress(socket: number, index: number, address: Address): void {
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
