export { raiseLoopback } from "./loopback.ts";
export { missingDevice, refuseMissingDevices } from "./missing/index.ts";
export { describeDevice, type MovedDevice, moveBack, moveIn, type NamespacePair, openPair, settle, takenName } from "./move.ts";
export { findLink } from "./route.ts";
