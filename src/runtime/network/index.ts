export type { Address } from "./address.ts";
export { LINK_FIXED, LINK_MESSAGE, type Link } from "./link.ts";
export { raiseLoopback } from "./loopback.ts";
export { type Attribute, attributesOf, attributeValue, encodeMessage, FLAG, u16, u32 } from "./message.ts";
export { missingDevice, refuseMissingDevices } from "./missing.ts";
export { describeDevice, type MovedDevice, moveBack, moveIn, type NamespacePair, openPair, settle, takenName } from "./move.ts";
export { request } from "./request.ts";
export { changeLink, findLink, keptAddresses } from "./route.ts";
