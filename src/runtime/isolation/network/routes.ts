/** Routes (rtnetlink(7), RTM_NEWROUTE): those that somebody has set, and how they are set again. */
import { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, request, u32 } from "../../network/index.ts";

const RTM_NEWROUTE = 24;
const RTM_GETROUTE = 26;
/** struct rtmsg: family, lengths of destination and source, type of service, table, protocol, scope, type, flags. */
const FIXED = 12;
/** RTA_* (linux/rtnetlink.h). */
const RTA = { DST: 1, OIF: 4, GATEWAY: 5, PRIORITY: 6, PREFSRC: 7, METRICS: 8 } as const;
const HANDED_ON: readonly number[] = [RTA.DST, RTA.GATEWAY, RTA.PRIORITY, RTA.PREFSRC, RTA.METRICS];
const [TABLE_MAIN, TYPE_UNICAST, PROTOCOL_KERNEL] = [254, 1, 2];
/** RTN_BLACKHOLE, RTN_UNREACHABLE and RTN_PROHIBIT: packets go nowhere. */
const DEAD_ENDS: readonly number[] = [6, 7, 8];
const RTNH_F_ONLINK = 4;

/** Plain data. */
export interface Route {
  readonly family: number;
  readonly destinationLength: number;
  readonly protocol: number;
  readonly scope: number;
  readonly type: number;
  readonly flags: number;
  readonly attributes: readonly Attribute[];
}

/** Of one interface and the main table. What the kernel makes of an address comes with the address; a gateway has to be reached by what stands before it. */
export function routesOf(socket: number, index: number): Route[] {
  const routes = all(socket).flatMap(({ out, ...route }) => (route.type === TYPE_UNICAST && out === String(u32(index)) ? [route] : []));
  const isDirect = ({ attributes }: Route): boolean => attributeValue(attributes, RTA.GATEWAY) === undefined;
  return [...routes.filter(isDirect), ...routes.filter((route) => !isDirect(route))];
}

/** By which somebody keeps what is in this network namespace from an address. They are of no interface. */
export function deadEnds(socket: number): Route[] {
  return all(socket).flatMap(({ out: _, ...route }) => (DEAD_ENDS.includes(route.type) ? [route] : []));
}

interface ReadRoute extends Route {
  /** Its interface. */
  readonly out: string;
}

function all(socket: number): ReadRoute[] {
  const dump = encodeMessage(RTM_GETROUTE, FLAG.DUMP, new Array<number>(FIXED).fill(0), []);
  return request(socket, dump, RTM_NEWROUTE).flatMap((body) => readRoute(body) ?? []);
}

function readRoute(body: DataView): ReadRoute | undefined {
  const [family, destinationLength, , , table, protocol, scope, type] = Array.from({ length: 8 }, (_, at) => body.getUint8(at)) as [
    ...[number, number, number, number, number, number, number, number],
  ];
  const attributes = attributesOf(body, FIXED);
  if (table !== TABLE_MAIN || protocol === PROTOCOL_KERNEL) return undefined;
  const out = String(attributeValue(attributes, RTA.OIF));
  const flags = body.getUint32(8, true) & RTNH_F_ONLINK;
  const handedOn = attributes.filter(([kind]) => HANDED_ON.includes(kind));
  return { family, destinationLength, protocol, scope, type, flags, attributes: handedOn, out };
}

export function addRoute(socket: number, index: number, route: Route): void {
  const { family, destinationLength, protocol, scope, type, flags, attributes } = route;
  const fixed = [family, destinationLength, 0, 0, TABLE_MAIN, protocol, scope, type, ...u32(flags)];
  const out: Attribute[] = type === TYPE_UNICAST ? [[RTA.OIF, u32(index)]] : [];
  request(socket, encodeMessage(RTM_NEWROUTE, FLAG.ACK | FLAG.CREATE, fixed, [...attributes, ...out]));
}
