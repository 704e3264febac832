import type { ContainerConfig, NamespaceConfig, NamespaceType } from "../../config/index.ts";
import { awaitsCgroup, opensHostFiles } from "../actors.ts";
import type { CompileHost, CompileInput, Invocation } from "../input.ts";
import type { Builder } from "./builder.ts";

/** What every compile step sees: the input, the list being built, and the questions they share. */
export interface Scope {
  readonly config: ContainerConfig;
  readonly invocation: Invocation;
  readonly host: CompileHost;
  readonly builder: Builder;
  namespace(type: NamespaceType): NamespaceConfig | undefined;
  /** True if the container gets a new namespace of this type. */
  isNew(type: NamespaceType): boolean;
  /** Inside a user namespace init lacks rights on host objects; the intermediate opens them before the clone. */
  readonly inUserNamespace: boolean;
  /** The mount namespace belongs to another process, and does not show the host's files. */
  readonly joinsMount: boolean;
  /** It shares the caller's mount namespace, and something is mounted for it: all of that in the root, which the runtime binds on itself. */
  readonly bindsRoot: boolean;
  /** The intermediate opens cgroups and devices whenever init could not: with a user namespace that root sets up, or a joined mount namespace. */
  readonly sourceActor: "intermediate" | "init";
  /** v2: the intermediate has its plan before the cgroup is made that it clones init into. */
  readonly awaitsCgroup: boolean;
  /** v1: init opens the `tasks` files that it joins by itself, when it is told that its cgroups are there. */
  readonly opensTasks: boolean;
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
    sourceActor: (inUserNamespace && !input.host.rootless) || joinsMount ? "intermediate" : "init",
    awaitsCgroup: awaitsCgroup(input),
    opensTasks: join !== undefined && "tasks" in join && opensHostFiles(input.config),
  };
}

/** A configuration that asks for nothing: what is compiled for a container that exists has only the parts that it changes. */
export const BARE_CONFIG: ContainerConfig = {
  ociVersion: "",
  bundle: "",
  rootfs: "",
  rootReadonly: false,
  rootfsPropagation: 0,
  annotations: {},
  namespaces: [],
  uidMappings: [],
  gidMappings: [],
  mounts: [],
  devices: [],
  mountedInDev: new Set(),
  maskedPaths: [],
  readonlyPaths: [],
  netDevices: [],
  sysctl: [],
  cgroupsPath: "",
  resources: { hugepageLimits: [], rdma: {}, unified: {}, devices: [] },
  hooks: {},
  warnings: [],
};
