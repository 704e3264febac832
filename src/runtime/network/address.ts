/** Addresses of a network device (rtnetlink(7), RTM_NEWADDR): those that a container's device keeps, and how they are set again. Pure. */
import { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, u32 } from "./message.ts";

const RTM_NEWADDR = 20;
const RTM_GETADDR = 22;
/** struct ifaddrmsg: family, prefix length, flags, scope, index. */
const FIXED = 8;
/** IFA_* (linux/if_addr.h). */
const IFA = { ADDRESS: 1, LOCAL: 2, LABEL: 3, BROADCAST: 4, CACHEINFO: 6, FLAGS: 8, RT_PRIORITY: 9, PROTO: 11 } as const;
const FLAG_DEPRECATED = 0x20;
const FLAG_PERMANENT = 0x80;
/** IFA_F_* that say how an address was asked for: NODAD, OPTIMISTIC, HOMEADDRESS, MANAGETEMPADDR, NOPREFIXROUTE, MCAUTOJOIN. */
const ASKED_FLAGS = 0x02 | 0x04 | 0x10 | 0x100 | 0x200 | 0x400;
const SCOPE_GLOBAL = 0;
const FOREVER = 0xffff_ffff;

/** Plain data: it is kept in the state record too. */
export interface Address {
  /** AF_INET, AF_INET6, ... */
  readonly family: number;
  readonly prefixLength: number;
  /** IFA_F_*. */
  readonly flags: number;
  /** Seconds for which it is preferred; 2^32 - 1 = for ever. */
  readonly preferred: number;
  /** IPv4 only: the device's name, or that with ":TEXT". */
  readonly label?: readonly number[];
  /** Attributes that are passed on unchanged: addresses, metric of the route, origin. */
  readonly attributes: readonly Attribute[];
}

export const dumpRequest = (): ArrayBuffer => encodeMessage(RTM_GETADDR, FLAG.DUMP, new Array<number>(FIXED).fill(0), []);
export const ADDRESS_MESSAGE = RTM_NEWADDR;

/**
 * An address of the device with this index that has to be kept: permanent and of global scope (config-linux, network devices).
 * undefined for any other one: what expires or is derived from the link belongs to the place where the device was.
 */
export function keptAddress(body: DataView, index: number): Address | undefined {
  if (body.getUint32(4, true) !== index || body.getUint8(3) !== SCOPE_GLOBAL) return undefined;
  const attributes = attributesOf(body, FIXED);
  const wide = attributeValue(attributes, IFA.FLAGS);
  const flags = wide === undefined ? body.getUint8(2) : number(wide);
  if ((flags & FLAG_PERMANENT) === 0) return undefined;
  const label = attributeValue(attributes, IFA.LABEL);
  const lifetimes = attributeValue(attributes, IFA.CACHEINFO);
  return {
    family: body.getUint8(0),
    prefixLength: body.getUint8(1),
    flags: flags & ASKED_FLAGS,
    // IPv4 tells a deprecated one by its flag alone.
    preferred: flags & FLAG_DEPRECATED ? 0 : lifetimes === undefined ? FOREVER : number(lifetimes),
    ...(label && { label: label.slice(0, -1) }),
    attributes: attributes.filter(([type]) => HANDED_ON.includes(type)),
  };
}

const HANDED_ON: readonly number[] = [IFA.ADDRESS, IFA.LOCAL, IFA.BROADCAST, IFA.RT_PRIORITY, IFA.PROTO];

function number(bytes: readonly number[]): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes;
  return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
}

/** Set it on the device with this index. */
export function addRequest(index: number, { family, prefixLength, flags, preferred, label, attributes }: Address): ArrayBuffer {
  return encodeMessage(
    RTM_NEWADDR,
    FLAG.ACK | FLAG.CREATE | FLAG.EXCL,
    [family, prefixLength, flags & 0xff, SCOPE_GLOBAL, ...u32(index)],
    [
      ...attributes,
      [IFA.FLAGS, u32(flags)],
      // struct ifa_cacheinfo: preferred, valid, and two times that the kernel keeps.
      [IFA.CACHEINFO, [...u32(preferred), ...u32(FOREVER), ...u32(0), ...u32(0)]],
      ...(label ? [[IFA.LABEL, [...label, 0]] as const] : []),
    ],
  );
}

/** As the kernel does when a device is renamed: the part of a label that is the device's name follows the name. */
export function relabelled(address: Address, from: readonly number[], to: readonly number[]): Address {
  const { label, ...rest } = address;
  if (label === undefined || !from.every((byte, index) => label[index] === byte)) return address;
  const suffix = label.slice(from.length);
  if (suffix.length > 0 && suffix[0] !== COLON) return address;
  const renamed = [...to, ...suffix];
  // Too long: the kernel takes the device's name alone.
  return renamed.length <= LONGEST ? { ...rest, label: renamed } : rest;
}

const COLON = 0x3a;
/** IFNAMSIZ without the NUL. */
const LONGEST = 15;
