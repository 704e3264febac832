export { GUEST, JAIL, KNOWN } from "../places.ts";
export {
  type AdoptionRequest,
  type BeginRequest,
  type EndRequest,
  fromEntries,
  type JoinedRequest,
  type MonitorRequest,
  monitorSocket,
  SOCKET_VARIABLE,
  toEnvironment,
} from "../request.ts";
export { ISOLATION } from "./host.ts";
export type { NamespaceOwner, SandboxMachine } from "./joins.ts";
export { podPart } from "./pod.ts";
export { DEFAULT_SETTINGS, type MachineSettings, parseSettings } from "./settings.ts";
export { machineMemory } from "./size.ts";
export { type Sides, splitSpec } from "./split.ts";
