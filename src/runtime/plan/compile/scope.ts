import { NO_SLOT } from "../../../shared/protocol/index.ts";
import type { ContainerConfig, NamespaceConfig, NamespaceType } from "../../config/types.ts";
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
  /** The mount namespace is somebody else's, which does not show the host's files. */
  readonly joinsMount: boolean;
  /** It shares the caller's mount namespace, and something is mounted for it: all of that in the root, which the runtime binds on itself. */
  readonly bindsRoot: boolean;
  /** outer opens cgroups and devices whenever init could not: with a user namespace that root sets up, or a joined mount namespace. */
  readonly sourceActor: "outer" | "init";
  /** v1 without a user namespace, and systemd: the runtime makes the cgroups while init mounts, and init joins (or is moved) late. */
  readonly joinsLate: boolean;
  /** outer has nothing to do but the clone: what it opens elsewhere, init opens itself (needsOuter). */
  readonly onlyClones: boolean;
  /** init may begin before the container's record is written: all that it finds on the host is there already, until it waits for its cgroups. */
  readonly beginsFirst: boolean;
  /** init binds each of its cgroups as soon as it is made, and joins them behind the pivot (while-waiting.ts). */
  joinsLast: boolean;
  /** First slot of the tasks files that such a join writes to. */
  tasksSlot: number;
  /** Whether the late join stands in the plan already. */
  hasJoined: boolean;
  /** Whether these stand in the plan already (while-waiting.ts). */
  hasDevices: boolean;
  hasProtectedPaths: boolean;
  hasBoundingSet: boolean;
  /** Whether init has reported `ready` already. */
  isReady: boolean;
  /** Whether init loads the system call filter already. */
  hasFilter: boolean;
  /** Slots of the mounts that outer has opened or made, by the JSON pointer of the mount. */
  readonly openedMounts: Map<string, number>;
  /** Slot of the file in which a startContainer hook's failure is reported; NO_SLOT when it is not needed. */
  startReport: number;
  /** Slots of user namespaces for id-mapped mounts, by what they map. */
  readonly openedIdMaps: Map<string, number>;
  /** Slots of device nodes that outer has opened or made, by path. */
  readonly openedDevices: Map<string, number>;
}

/** Whether something has to be done before the clone, with rights or in namespaces that init does not have. */
function needsOuter(config: ContainerConfig, { consoleSocket, mode }: Pick<Invocation, "consoleSocket" | "mode">): boolean {
  if (consoleSocket !== undefined || config.netDevices.length > 0 || (mode === "create" && config.hooks.startContainer)) return true;
  let hasMount = false;
  for (const { type, path } of config.namespaces) {
    if (path !== undefined || type === "user" || type === "time") return true;
    hasMount ||= type === "mount";
  }
  return !hasMount || config.mounts.some((mount) => "idmap" in mount && mount.idmap !== undefined);
}

/** Whether anything is mounted in its root, or on it. */
function mounts({ config, host }: CompileInput, inUserNamespace: boolean): boolean {
  const { mounts, process, rootReadonly } = config;
  const bindsDevices = inUserNamespace || host.rootless || host.bindDevices === true;
  return mounts.length > 0 || rootReadonly || process?.terminal === true || bindsDevices;
}

export function createScope(input: CompileInput, builder: Builder): Scope {
  const byType: { [type in NamespaceType]?: NamespaceConfig } = {};
  for (const entry of input.config.namespaces) byType[entry.type] = entry;
  const inUserNamespace = byType.user !== undefined;
  const joinsMount = byType.mount?.path !== undefined;
  const join = input.host.cgroup?.join;
  const onlyClones = !input.host.rootless && !(join && "directory" in join) && !needsOuter(input.config, input.invocation);
  return {
    config: input.config,
    invocation: input.invocation,
    host: input.host,
    builder,
    namespace: (type) => byType[type],
    isNew: (type) => {
      const entry = byType[type];
      return entry !== undefined && entry.path === undefined;
    },
    inUserNamespace,
    joinsMount,
    bindsRoot: byType.mount === undefined && mounts(input, inUserNamespace),
    sourceActor: (inUserNamespace && !input.host.rootless) || joinsMount ? "outer" : "init",
    startReport: NO_SLOT,
    joinsLate: join !== undefined && joinsLate(join, !inUserNamespace && !joinsMount),
    onlyClones,
    beginsFirst: onlyClones && join !== undefined && "tasks" in join && !input.host.resctrl && input.invocation.notifySocket === undefined,
    joinsLast: false,
    tasksSlot: NO_SLOT,
    hasJoined: false,
    hasDevices: false,
    hasProtectedPaths: false,
    hasBoundingSet: false,
    isReady: false,
    hasFilter: false,
    openedMounts: new Map(),
    openedIdMaps: new Map(),
    openedDevices: new Map(),
  };
}

/** `opens`: init itself can open the files that it joins by. */
function joinsLate(join: CgroupSteps["join"], opens: boolean): boolean {
  return "unit" in join || ("tasks" in join && opens);
}
