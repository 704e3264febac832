import type { ContainerConfig, NamespaceConfig, NamespaceType } from "../../config/types.ts";
import { NO_SLOT } from "../ops.ts";
import type { Builder } from "./builder.ts";
import type { CgroupSteps, CompileInput, HostFacts, Invocation } from "./context.ts";

/** What every compile step sees: the input, the list being built, and the questions they share. */
export interface Scope {
  readonly config: ContainerConfig;
  readonly invocation: Invocation;
  readonly host: HostFacts;
  readonly builder: Builder;
  namespace(type: NamespaceType): NamespaceConfig | undefined;
  /** True if the container gets a new namespace of this type. */
  isNew(type: NamespaceType): boolean;
  /** Inside a user namespace init lacks rights on host objects; outer opens them before the clone. */
  readonly inUserNamespace: boolean;
  /** outer opens bind sources whenever init could not: with a user namespace that root sets up, or a joined mount namespace. */
  readonly sourceActor: "outer" | "init";
  /** v1 without a user namespace, and systemd: the runtime makes the cgroups while init mounts, and init joins (or is moved) late. */
  readonly joinsLate: boolean;
  /** Whether the late join stands in the plan already. */
  hasJoined: boolean;
  /** Slots of the mounts that outer has opened or made, by the JSON pointer of the mount. */
  readonly openedMounts: Map<string, number>;
  /** Slot of the file in which a startContainer hook's failure is reported; NO_SLOT when it is not needed. */
  startReport: number;
  /** Slots of user namespaces for id-mapped mounts, by what they map. */
  readonly openedIdMaps: Map<string, number>;
  /** Slots of device nodes that outer has opened or made, by path. */
  readonly openedDevices: Map<string, number>;
}

export function createScope(input: CompileInput, builder: Builder): Scope {
  const byType = new Map(input.config.namespaces.map((entry) => [entry.type, entry]));
  const inUserNamespace = byType.has("user");
  const joinsMount = byType.get("mount")?.path !== undefined;
  return {
    config: input.config,
    invocation: input.invocation,
    host: input.host,
    builder,
    namespace: (type) => byType.get(type),
    isNew: (type) => byType.has(type) && byType.get(type)?.path === undefined,
    inUserNamespace,
    sourceActor: (inUserNamespace && !input.host.rootless) || joinsMount ? "outer" : "init",
    startReport: NO_SLOT,
    joinsLate: input.host.cgroup !== undefined && joinsLate(input.host.cgroup.join, !inUserNamespace && !joinsMount),
    hasJoined: false,
    openedMounts: new Map(),
    openedIdMaps: new Map(),
    openedDevices: new Map(),
  };
}

/** `opens`: init itself can open the files that it joins by. */
function joinsLate(join: CgroupSteps["join"], opens: boolean): boolean {
  return "unit" in join || ("tasks" in join && opens);
}
