/** Whatever arrives at one link leaves by another (tc(8): an ingress queue, a filter that takes all, and mirred). */
import * as host from "../../host/index.ts";
import { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, request, u16, u32 } from "../../network/index.ts";

const [RTM_NEWQDISC, RTM_NEWTFILTER, RTM_DELTFILTER, RTM_GETTFILTER] = [36, 44, 45, 46];
const TCA = { KIND: 1, OPTIONS: 2 } as const;
const [U32_SELECTOR, U32_ACTIONS, U32_TERMINAL] = [5, 7, 1];
const ACTION = { KIND: 1, OPTIONS: 2 } as const;
const [MIRRED_PARAMETERS, EGRESS_REDIRECT, STOLEN] = [2, 1, 4];
/** TC_H_INGRESS, and the handle of its queue. */
const [INGRESS, INGRESS_HANDLE] = [0xffff_fff1, 0xffff_0000];
/** ETH_P_ALL in the byte order of the network, and above it a priority by which the filter is known as runt's. */
const EVERYTHING = 0x7274_0300;
/** struct tcmsg, and where in it the priority is. */
const [FIXED, PRIORITY_AT] = [20, 18];
/** Where in struct tc_mirred the link is. */
const LINK_AT = 24;

export function redirectBoth(socket: number, one: number, other: number): void {
  for (const index of [one, other]) {
    makeIngress(socket, index);
    endRedirect(socket, index);
  }
  redirect(socket, one, other);
  redirect(socket, other, one);
}

/**
 * Whose the filters of that priority are: those of a machine lead to a tap, and once it has ended to no link. "others": somebody has made them who is
 * no part of a machine, or the machine runs.
 */
function ownerOf(socket: number, index: number): "nobody" | "ended" | "others" {
  const dump = encodeMessage(RTM_GETTFILTER, FLAG.DUMP, fixed(index, 0, INGRESS_HANDLE, 0), []);
  const found = request(socket, dump, RTM_NEWTFILTER).filter((body) => body.getUint16(PRIORITY_AT, true) === EVERYTHING >>> 16);
  if (found.length === 0) return "nobody";
  return found.every((body) => isOfNobody(attributesOf(body, FIXED))) ? "ended" : "others";
}

function isOfNobody(attributes: readonly Attribute[]): boolean {
  if (String(attributeValue(attributes, TCA.KIND)) !== String(name("u32"))) return false;
  const actions = attributeValue(nestedIn(attributeValue(attributes, TCA.OPTIONS)), U32_ACTIONS);
  // A hash table of u32's own, which comes with the first filter.
  if (actions === undefined) return attributeValue(nestedIn(attributeValue(attributes, TCA.OPTIONS)), U32_SELECTOR) === undefined;
  return nestedIn(actions).every(([, action]) => {
    const parts = nestedIn(action);
    if (String(attributeValue(parts, ACTION.KIND)) !== String(name("mirred"))) return false;
    const parameters = attributeValue(nestedIn(attributeValue(parts, ACTION.OPTIONS)), MIRRED_PARAMETERS) ?? [];
    return String(parameters.slice(LINK_AT, LINK_AT + 4)) === String(u32(0));
  });
}

/** @throws Error: others have a filter where one of this machine has to be */
export function refuseFilters(socket: number, index: number, interfaceName: string): void {
  if (ownerOf(socket, index) !== "others") return;
  throw new Error(`network: ${interfaceName} has a filter of priority ${EVERYTHING >>> 16} of others: a machine's has to be there`);
}

/** Of a machine that has ended. The queue stays: it may be somebody else's, and does nothing by itself. */
export function endRedirect(socket: number, index: number): void {
  if (ownerOf(socket, index) !== "ended") return;
  attempt(["ENOENT", "EINVAL"], () => {
    request(socket, encodeMessage(RTM_DELTFILTER, FLAG.ACK, fixed(index, 0, INGRESS_HANDLE, EVERYTHING), [[TCA.KIND, name("u32")]]));
  });
}

function makeIngress(socket: number, index: number): void {
  const flags = FLAG.ACK | FLAG.CREATE | FLAG.EXCL;
  attempt(["EEXIST"], () => {
    request(socket, encodeMessage(RTM_NEWQDISC, flags, fixed(index, INGRESS_HANDLE, INGRESS, 0), [[TCA.KIND, name("ingress")]]));
  });
}

/** These errors say that there is nothing to do. */
function attempt(expected: readonly string[], action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!host.isErrno(error, ...expected)) throw error;
  }
}

function redirect(socket: number, from: number, to: number): void {
  // struct tc_u32_sel with one key that has no bit; struct tc_mirred.
  const selector = [U32_TERMINAL, 0, 1, ...new Array<number>(13).fill(0), ...new Array<number>(16).fill(0)];
  const parameters = [u32(0), u32(0), u32(STOLEN), u32(0), u32(0), u32(EGRESS_REDIRECT), u32(to)].flat();
  const action = [
    [ACTION.KIND, name("mirred")],
    [ACTION.OPTIONS, nested([[MIRRED_PARAMETERS, parameters]])],
  ] as const;
  const options: Attribute[] = [
    [U32_SELECTOR, selector],
    [U32_ACTIONS, nested([[1, nested(action)]])],
  ];
  const attributes: Attribute[] = [
    [TCA.KIND, name("u32")],
    [TCA.OPTIONS, nested(options)],
  ];
  request(
    socket,
    encodeMessage(RTM_NEWTFILTER, FLAG.ACK | FLAG.CREATE | FLAG.EXCL, fixed(from, 0, INGRESS_HANDLE, EVERYTHING), attributes),
  );
}

/** struct tcmsg. */
function fixed(index: number, handle: number, parent: number, info: number): number[] {
  return [...u32(0), ...u32(index), ...u32(handle), ...u32(parent), ...u32(info)];
}

function name(text: string): number[] {
  return [...new Uint8Array(host.utf8Encode(text)), 0];
}

/** Of an attribute: length and type. */
const HEADER = 4;

/** Attributes within an attribute: type and length, the value, zeros up to four bytes. */
function nested(attributes: readonly Attribute[]): number[] {
  return attributes.flatMap(([type, value]) => [
    ...u16(HEADER + value.length),
    ...u16(type),
    ...value,
    ...new Array<number>((4 - (value.length % 4)) % 4).fill(0),
  ]);
}

function nestedIn(value: readonly number[] = []): Attribute[] {
  return attributesOf(new DataView(new Uint8Array(value).buffer), 0);
}
