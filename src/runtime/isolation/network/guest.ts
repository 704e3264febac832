/** The guest's side of a machine's network: its interfaces go into the container's network namespace, with what they have on the host. */
import * as host from "../../host/index.ts";
import { moveIn, openPair, settle } from "../../network/index.ts";
import { hardwareText, type Interface, linksOf } from "./links.ts";
import { addRoute } from "./routes.ts";

/** `pid`: a process of the container. */
export function bringInterfaces(pid: number, interfaces: readonly Interface[]): void {
  if (interfaces.length === 0) return;
  const pair = openPair(`/proc/${pid}/ns/net`);
  const names = new Set(interfaces.map(({ name }) => name));
  for (const { name, hardwareAddress, addresses, routes } of interfaces) {
    const link = linksOf(pair.outsideSocket).find((each) => hardwareText(each.hardwareAddress) === hardwareAddress);
    if (link === undefined) throw new Error(`network: the machine has no interface ${hardwareAddress}`);
    const device = {
      name: link.name,
      temporary: freeName(names, link.index),
      index: 0,
      hardwareAddress: link.hardwareAddress,
      up: false,
      addresses,
    };
    const index = moveIn(pair, device);
    // The labels of addresses begin with the name on the host.
    settle(pair, { ...device, index, name }, name);
    for (const route of routes) addRoute(pair.insideSocket, index, route);
  }
  for (const fd of Object.values(pair)) host.close(fd);
}

/** For the way into the container: no interface has it there. */
function freeName(taken: ReadonlySet<string>, number: number): string {
  const name = `runt${number}`;
  return taken.has(name) ? freeName(taken, number + 1) : name;
}
