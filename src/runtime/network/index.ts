export type { Address } from "./address.ts";
export { LINK_FIXED, LINK_MESSAGE, type Link } from "./link.ts";
export { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, u16, u32 } from "./message.ts";
export {
  changeLink,
  describeDevice,
  findLink,
  keptAddresses,
  type MovedDevice,
  missingDevice,
  moveBack,
  moveIn,
  type NamespacePair,
  openPair,
  raiseLoopback,
  refuseMissingDevices,
  settle,
  takenName,
} from "./move.ts";
export { request } from "./request.ts";
