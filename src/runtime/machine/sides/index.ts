export { GUEST, JAIL } from "../places.ts";
export { fromEntries, SOCKET_VARIABLE, toEnvironment } from "../request.ts";
export { ISOLATION } from "./host.ts";
export { DEFAULT_SETTINGS, type MachineSettings, parseSettings } from "./settings.ts";
export { machineMemory } from "./size.ts";
export { type Sides, splitSpec } from "./split.ts";
