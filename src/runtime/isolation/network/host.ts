/** The host's side of a machine's network: what its interfaces are, and how they are joined with QEMU's. */
import * as host from "../../host/index.ts";
import { keptAddresses } from "../../network/index.ts";
import { hardwareText, type Interface, isTapName, type LinkFacts, linksOf, raise, tapName } from "./links.ts";
import { endRedirect, redirectBoth, refuseFilters } from "./redirect.ts";
import { deadEnds, routesOf } from "./routes.ts";

/** Those of this network namespace that are up. @throws Error for one that a machine cannot have, and where others have what this machine would make */
export function readInterfaces(): Interface[] {
  const socket = host.netlinkOpen();
  const all = linksOf(socket);
  const tap = all.find(({ name }) => isTapName(name));
  // QEMU would take it for its own.
  if (tap)
    throw new Error(`network: there is an interface ${tap.name}: another machine has this network namespace, or another program made it`);
  const links = all.filter(({ up }) => up);
  for (const link of links) {
    const why = unfit(link);
    if (why !== undefined) throw new Error(`network: a machine cannot have the interface ${link.name}, ${why}`);
  }
  for (const { index, name } of links) refuseFilters(socket, index, name);
  // The machine's packets go past the routes of this namespace: what leads nowhere here has to lead nowhere there. It comes with the first interface.
  const nowhere = deadEnds(socket);
  const interfaces = links.map(({ index, name, hardwareAddress, mtu }, number) => ({
    ...{ name, hardwareAddress: hardwareText(hardwareAddress), mtu },
    ...{ addresses: keptAddresses(socket, index), routes: [...(number === 0 ? nowhere : []), ...routesOf(socket, index)] },
  }));
  host.close(socket);
  return interfaces;
}

/** What a virtio device can have in Linux (ETH_MIN_MTU, ETH_MAX_MTU of linux/if_ether.h). */
const [LEAST_MTU, MOST_MTU] = [68, 65_535];

function unfit({ isEthernet, isText, mtu, name }: LinkFacts): string | undefined {
  if (!isEthernet) return "which is no Ethernet";
  if (!isText) return "whose name is not UTF-8";
  if (name === LOOPBACK) return "which has the name of the guest's loopback";
  return mtu < LEAST_MTU || mtu > MOST_MTU ? `whose MTU is ${mtu}: it has to be ${LEAST_MTU} to ${MOST_MTU}` : undefined;
}

const LOOPBACK = "lo";

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
