/** Network devices that the host does not have: loaded for a configuration that names one. */
export { missingDevice, refuseMissingDevices } from "./missing.ts";
