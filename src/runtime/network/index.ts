export type { Address } from "./address.ts";
export { LINK_FIXED, LINK_MESSAGE, type Link } from "./link.ts";
export { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, u16, u32 } from "./message.ts";
export { describeDevice, type MovedDevice, moveBack, moveIn, type NamespacePair, openPair, settle, takenName } from "./move.ts";
export { request } from "./request.ts";
export { changeLink, findLink, keptAddresses, missingDevice, raiseLoopback, refuseMissingDevices } from "./route.ts";
