/** The host's side of a machine's network: what its interfaces are, and how they are joined with QEMU's. */
import * as host from "../../host/index.ts";
import { keptAddresses } from "../../network/index.ts";
import { hardwareText, type Interface, isTapName, tapName } from "./interface.ts";
import { linksOf, raise } from "./links.ts";
import { endRedirect, redirectBoth, refuseFilters } from "./redirect.ts";
import { routesOf } from "./routes.ts";

/** Those of this network namespace that are up. @throws Error for one that is no Ethernet, and where others have what this machine would make */
export function readInterfaces(): Interface[] {
  const socket = host.netlinkOpen();
  const all = linksOf(socket);
  const tap = all.find(({ name }) => isTapName(name));
  // QEMU would take it for its own.
  if (tap)
    throw new Error(`network: there is an interface ${tap.name}: another machine has this network namespace, or it is somebody else's`);
  const links = all.filter(({ up }) => up);
  const other = links.find(({ isEthernet }) => !isEthernet);
  if (other) throw new Error(`network: a machine cannot have the interface ${other.name}, which is no Ethernet`);
  for (const { index, name } of links) refuseFilters(socket, index, name);
  const interfaces = links.map(({ index, name, hardwareAddress, mtu }) => ({
    ...{ name, hardwareAddress: hardwareText(hardwareAddress), mtu },
    ...{ addresses: keptAddresses(socket, index), routes: routesOf(socket, index) },
  }));
  host.close(socket);
  return interfaces;
}

/** A network namespace that others have made goes on without the machine: what arrives there is for it again. */
export function leaveInterfaces(namespace: string): void {
  const fd = host.open(namespace, host.O.RDONLY);
  const socket = host.netlinkOpen(fd);
  for (const { index } of linksOf(socket)) endRedirect(socket, index);
  for (const each of [socket, fd]) host.close(each);
}

/** When QEMU has made its taps: from then on what arrives at an interface goes to the machine, and back. */
export function joinInterfaces(interfaces: readonly Interface[]): void {
  const socket = host.netlinkOpen();
  const links = linksOf(socket);
  const find = (name: string): number => {
    const link = links.find((each) => each.name === name);
    if (link === undefined) throw new Error(`network: the interface ${name} has vanished`);
    return link.index;
  };
  for (const [number, { name, mtu }] of interfaces.entries()) {
    const tap = find(tapName(number));
    raise(socket, tap, mtu);
    redirectBoth(socket, find(name), tap);
  }
  host.close(socket);
}
