export { bundleProblems } from "./bundle.ts";
export { type CdiEdits, type CdiNode, type CdiSpecification, cdiEdits, parseCdi } from "./cdi.ts";
export { parseEnvFile } from "./env-file.ts";
export { imageProcess, imageVolumes } from "./image.ts";
export {
  type DevicePlacement,
  type ImagePlacement,
  inputEnds,
  launchOf,
  limitsOf,
  type MountSource,
  type Placement,
  sourceOf,
  takesInput,
} from "./launch.ts";
export {
  ROUTER_CONFIG,
  ROUTER_PORT,
  ROUTER_RUN,
  ROUTER_SOCKET,
  routerConfig,
  tagOf,
  withRouterSecrets,
} from "./log-router.ts";
export { RELAY_PROGRAM } from "./machine.ts";
export { type Incarnation, type Metadata, metadataOf, wantsMetadata } from "./metadata.ts";
export {
  type BridgeNetwork,
  type CniPlugin,
  type HostPort,
  hostIn,
  LOOPBACK_PLAN,
  type NetworkPlaces,
  type NetworkPlan,
  type NetworkStep,
  networkPlan,
  type PortForward,
  portName,
  RESOLVER_ADDRESS,
  RESOLVER_PORT,
  viaRoutes,
} from "./network.ts";
export {
  fileContents,
  hostsOf,
  hostsSaid,
  type Named,
  NETWORK_FILES,
  type NetworkFile,
  type NetworkPlacement,
  resolvText,
  serversOf,
} from "./network-files.ts";
export { type ReachedService, type TaskRules, TRANSPARENT_MARK, taskRules } from "./network-rules.ts";
export { type PausePlacement, pauseLaunch } from "./pause.ts";
export { type HostSupport, isInMachine, type Runtimes, refusedByHost } from "./refused.ts";
export { limitWrites, sliceProperties, type TaskResources, taskResources } from "./task-limits.ts";
