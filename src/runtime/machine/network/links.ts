/** The links of a network namespace (rtnetlink(7), RTM_GETLINK), and what is changed of one. */
import {
  attributesOf,
  attributeValue,
  changeLink,
  encodeMessage,
  FLAG,
  LINK_FIXED,
  LINK_MESSAGE,
  type Link,
  readLink,
  request,
  u16,
  u32,
} from "../../network/index.ts";

const RTM_GETLINK = 18;
/** IFLA_MTU (linux/if_link.h). */
const IFLA_MTU = 4;
const IFF_LOOPBACK = 0x8;
const ARPHRD_ETHER = 1;

export interface LinkFacts extends Link {
  readonly mtu: number;
  readonly isEthernet: boolean;
}

/** All but the loopback. */
export function linksOf(socket: number): LinkFacts[] {
  const dump = encodeMessage(RTM_GETLINK, FLAG.DUMP, new Array<number>(LINK_FIXED).fill(0), []);
  return request(socket, dump, LINK_MESSAGE).flatMap((body) => ((body.getUint32(8, true) & IFF_LOOPBACK) === 0 ? readFacts(body) : []));
}

function readFacts(body: DataView): LinkFacts {
  const mtu = attributeValue(attributesOf(body, LINK_FIXED), IFLA_MTU) ?? [0];
  return {
    ...readLink(body),
    mtu: mtu.reduceRight((sum, byte) => sum * 256 + byte, 0),
    isEthernet: body.getUint16(2, true) === ARPHRD_ETHER,
  };
}

export function raise(socket: number, index: number, mtu: number): void {
  const fixed = [0, 0, ...u16(0), ...u32(index), ...u32(0), ...u32(0)];
  request(socket, encodeMessage(LINK_MESSAGE, FLAG.ACK, fixed, [[IFLA_MTU, u32(mtu)]]));
  changeLink(socket, index, { up: true });
}
