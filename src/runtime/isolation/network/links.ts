/** The links of a network namespace (rtnetlink(7), RTM_GETLINK), and what is changed of one. */
import * as host from "../../host/index.ts";
import {
  type Address,
  attributesOf,
  attributeValue,
  changeLink,
  encodeMessage,
  FLAG,
  LINK_FIXED,
  LINK_MESSAGE,
  type Link,
  request,
  u16,
  u32,
} from "../../network/index.ts";
import type { Route } from "./routes.ts";

const RTM_GETLINK = 18;
/** IFLA_* (linux/if_link.h). */
const IFLA = { ADDRESS: 1, IFNAME: 3, MTU: 4 } as const;
const [IFF_UP, IFF_LOOPBACK] = [0x1, 0x8];
const ARPHRD_ETHER = 1;

export interface LinkFacts extends Link {
  readonly mtu: number;
  readonly isEthernet: boolean;
  /** The kernel takes nearly any bytes for a name. False: `name` is only for people. */
  readonly isText: boolean;
}

/** All but the loopback. */
export function linksOf(socket: number): LinkFacts[] {
  const dump = encodeMessage(RTM_GETLINK, FLAG.DUMP, new Array<number>(LINK_FIXED).fill(0), []);
  return request(socket, dump, LINK_MESSAGE).flatMap((body) => ((body.getUint32(8, true) & IFF_LOOPBACK) === 0 ? readFacts(body) : []));
}

function readFacts(body: DataView): LinkFacts {
  const attributes = attributesOf(body, LINK_FIXED);
  const mtu = attributeValue(attributes, IFLA.MTU) ?? [0];
  return {
    ...readName((attributeValue(attributes, IFLA.IFNAME) ?? [0]).slice(0, -1)),
    index: body.getInt32(4, true),
    hardwareAddress: attributeValue(attributes, IFLA.ADDRESS) ?? [],
    up: (body.getUint32(8, true) & IFF_UP) !== 0,
    mtu: mtu.reduceRight((sum, byte) => sum * 256 + byte, 0),
    isEthernet: body.getUint16(2, true) === ARPHRD_ETHER,
  };
}

function readName(bytes: readonly number[]): Pick<LinkFacts, "name" | "isText"> {
  try {
    return { name: host.utf8Decode(new Uint8Array(bytes).buffer), isText: true };
  } catch (error) {
    if (!host.isErrno(error, "EILSEQ")) throw error;
    const name = bytes.map((byte) => (byte < 0x80 ? String.fromCharCode(byte) : `\\x${byte.toString(16)}`)).join("");
    return { name, isText: false };
  }
}

export function raise(socket: number, index: number, mtu: number): void {
  const fixed = [0, 0, ...u16(0), ...u32(index), ...u32(0), ...u32(0)];
  request(socket, encodeMessage(LINK_MESSAGE, FLAG.ACK, fixed, [[IFLA.MTU, u32(mtu)]]));
  changeLink(socket, index, { up: true });
}

/** A network interface of the container, as it is on the host and has to be in the guest. Plain data. */
export interface Interface {
  readonly name: string;
  /** As QEMU and people write it: six pairs of digits. The guest knows the interface by it. */
  readonly hardwareAddress: string;
  readonly mtu: number;
  readonly addresses: readonly Address[];
  readonly routes: readonly Route[];
}

/** The other end of an interface of the machine: a tap that QEMU makes in the network namespace. */
export const tapName = (number: number): string => `${TAP}${number}`;
export const isTapName = (name: string): boolean => name.startsWith(TAP);
const TAP = "runt-tap";

export function hardwareText(address: readonly number[]): string {
  return address.map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}
