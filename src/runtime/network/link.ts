/** Network devices (rtnetlink(7), RTM_NEWLINK) as messages. Pure but for texts. */
import * as host from "../host/index.ts";
import { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, u16, u32 } from "./message.ts";

const RTM_NEWLINK = 16;
const RTM_GETLINK = 18;
/** struct ifinfomsg: family, type, index, flags, changed flags. */
export const LINK_FIXED = 16;
/** IFLA_* (linux/if_link.h). */
const IFLA = { ADDRESS: 1, IFNAME: 3, NET_NS_FD: 28 } as const;
const IFF_UP = 0x1;

export interface Link {
  readonly index: number;
  readonly name: string;
  /** Empty for a device without one. */
  readonly hardwareAddress: readonly number[];
  readonly up: boolean;
}

/** By its number, or by a name (an alternative one too). */
export type LinkKey = number | string;

/** What to change; a move to another network namespace (a descriptor of it) comes before the new name. */
export interface LinkChange {
  /** With one %d in it the kernel finds a number that makes it unique. */
  readonly name?: string;
  readonly namespace?: number;
  readonly up?: true;
}

export const LINK_MESSAGE = RTM_NEWLINK;

export function getRequest(key: LinkKey): ArrayBuffer {
  const index = typeof key === "number" ? key : 0;
  return encodeMessage(RTM_GETLINK, FLAG.ACK, fixed(index, 0), typeof key === "string" ? [nameAttribute(key)] : []);
}

export function changeRequest(index: number, { name, namespace, up }: LinkChange): ArrayBuffer {
  const attributes: Attribute[] = [];
  if (namespace !== undefined) attributes.push([IFLA.NET_NS_FD, u32(namespace)]);
  if (name !== undefined) attributes.push(nameAttribute(name));
  return encodeMessage(RTM_NEWLINK, FLAG.ACK, fixed(index, up ? IFF_UP : 0), attributes);
}

export function readLink(body: DataView): Link {
  const attributes = attributesOf(body, LINK_FIXED);
  const name = attributeValue(attributes, IFLA.IFNAME) ?? [0];
  return {
    index: body.getInt32(4, true),
    name: host.utf8Decode(new Uint8Array(name.slice(0, -1)).buffer),
    hardwareAddress: attributeValue(attributes, IFLA.ADDRESS) ?? [],
    up: (body.getUint32(8, true) & IFF_UP) !== 0,
  };
}

/** Only the flags given are changed. */
function fixed(index: number, flags: number): number[] {
  return [0, 0, ...u16(0), ...u32(index), ...u32(flags), ...u32(flags)];
}

function nameAttribute(name: string): Attribute {
  return [IFLA.IFNAME, [...utf8(name), 0]];
}

export function utf8(text: string): number[] {
  return [...new Uint8Array(host.utf8Encode(text))];
}
