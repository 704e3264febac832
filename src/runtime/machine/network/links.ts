/** The links of a network namespace (rtnetlink(7), RTM_GETLINK), and what is changed of one. */

import * as host from "../../host/index.ts";
import { attributesOf, attributeValue, encodeMessage, FLAG, request, u16, u32 } from "../../network/index.ts";

const RTM_NEWLINK = 16;
const RTM_GETLINK = 18;
/** struct ifinfomsg: family, type, index, flags, changed flags. */
const FIXED = 16;
/** IFLA_* (linux/if_link.h). */
const IFLA = { ADDRESS: 1, IFNAME: 3, MTU: 4 } as const;
const [IFF_UP, IFF_LOOPBACK] = [0x1, 0x8];
const ARPHRD_ETHER = 1;

export interface LinkFacts {
  readonly index: number;
  readonly name: string;
  readonly hardwareAddress: readonly number[];
  readonly mtu: number;
  readonly isUp: boolean;
  readonly isEthernet: boolean;
}

/** All but the loopback. */
export function linksOf(socket: number): LinkFacts[] {
  const dump = encodeMessage(RTM_GETLINK, FLAG.DUMP, new Array<number>(FIXED).fill(0), []);
  return request(socket, dump, RTM_NEWLINK).flatMap((body) => ((body.getUint32(8, true) & IFF_LOOPBACK) === 0 ? readFacts(body) : []));
}

function readFacts(body: DataView): LinkFacts {
  const attributes = attributesOf(body, FIXED);
  const [name = [0], mtu = [0]] = [attributeValue(attributes, IFLA.IFNAME), attributeValue(attributes, IFLA.MTU)];
  return {
    index: body.getInt32(4, true),
    name: host.utf8Decode(new Uint8Array(name.slice(0, -1)).buffer),
    hardwareAddress: attributeValue(attributes, IFLA.ADDRESS) ?? [],
    mtu: mtu.reduceRight((sum, byte) => sum * 256 + byte, 0),
    isUp: (body.getUint32(8, true) & IFF_UP) !== 0,
    isEthernet: body.getUint16(2, true) === ARPHRD_ETHER,
  };
}

export function raise(socket: number, index: number, mtu: number): void {
  const fixed = [0, 0, ...u16(0), ...u32(index), ...u32(IFF_UP), ...u32(IFF_UP)];
  request(socket, encodeMessage(RTM_NEWLINK, FLAG.ACK, fixed, [[IFLA.MTU, u32(mtu)]]));
}
