/** The networks of tasks: calls CNI plugins, and manages network namespaces of the kernel. */
export { lastLines } from "./command.ts";
export { NetworkError, type NetworkErrorCode } from "./errors.ts";
export { withoutPrefix } from "./files.ts";
export type { Backend, FilterKind, ServicePort } from "./filter/filter.ts";
export type { FlowsTo } from "./flows.ts";
export { whileHeld } from "./namespace.ts";
export type { TaskNetworksOptions } from "./options.ts";
export type { ResolverCgroup } from "./resolver.ts";
export type { Known, NamedTask } from "./resolver-names.ts";
export { TaskNetworks } from "./task-networks.ts";
