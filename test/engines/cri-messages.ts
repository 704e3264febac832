/**
 * The messages of the Kubernetes Container Runtime Interface, version `runtime.v1`, as far as they are used here (names and numbers are
 * facts of the interface). Messages that differ between a status and a request are one where the numbers allow it.
 */
import type { MessageType } from "./protobuf.ts";

const Int64Value = { value: [1, "int"] } as const;
const Value = { value: [1, "int"] } as const;

const IdMapping = { hostId: [1, "int"], containerId: [2, "int"], length: [3, "int"] } as const;

/** Modes: 0 of the pod, 1 of the container, 2 of the node, 3 of the container `targetId`. */
const NamespaceOptions = {
  network: [1, "int"],
  pid: [2, "int"],
  ipc: [3, "int"],
  targetId: [4, "string"],
  users: [5, { mode: [1, "int"], uids: [2, { list: IdMapping }], gids: [3, { list: IdMapping }] }],
} as const;

/** Types: 0 the runtime's default, 1 unconfined, 2 the file `localhostRef`. */
const SecurityProfile = { type: [1, "int"], localhostRef: [2, "string"] } as const;

const SandboxSecurityContext = {
  namespaces: [1, NamespaceOptions],
  readonlyRootfs: [4, "bool"],
  supplementalGroups: [5, { list: "int" }],
  privileged: [6, "bool"],
  seccomp: [9, SecurityProfile],
} as const;

export const SandboxConfig = {
  metadata: [1, { name: [1, "string"], uid: [2, "string"], namespace: [3, "string"], attempt: [4, "int"] }],
  hostname: [2, "string"],
  logDirectory: [3, "string"],
  dns: [4, { servers: [1, { list: "string" }] }],
  labels: [6, "map"],
  annotations: [7, "map"],
  linux: [8, { cgroupParent: [1, "string"], security: [2, SandboxSecurityContext], sysctls: [3, "map"] }],
} as const;

export const Resources = {
  cpuPeriod: [1, "int"],
  cpuQuota: [2, "int"],
  cpuShares: [3, "int"],
  memoryLimit: [4, "int"],
  oomScoreAdj: [5, "int"],
  cpusetCpus: [6, "string"],
} as const;

const ContainerSecurityContext = {
  capabilities: [1, { add: [1, { list: "string" }], drop: [2, { list: "string" }] }],
  privileged: [2, "bool"],
  namespaces: [3, NamespaceOptions],
  user: [5, Int64Value],
  username: [6, "string"],
  readonlyRootfs: [7, "bool"],
  supplementalGroups: [8, { list: "int" }],
  noNewPrivileges: [11, "bool"],
  group: [12, Int64Value],
  maskedPaths: [13, { list: "string" }],
  readonlyPaths: [14, { list: "string" }],
  seccomp: [15, SecurityProfile],
} as const;

/** Propagation: 0 private, 1 from the host, 2 both ways. */
const Mount = {
  containerPath: [1, "string"],
  hostPath: [2, "string"],
  readonly: [3, "bool"],
  propagation: [5, "int"],
  uidMappings: [6, { list: IdMapping }],
  gidMappings: [7, { list: IdMapping }],
  recursiveReadOnly: [8, "bool"],
} as const;

const Image = { image: [1, "string"] } as const;

export const ContainerConfig = {
  metadata: [1, { name: [1, "string"], attempt: [2, "int"] }],
  image: [2, Image],
  command: [3, { list: "string" }],
  args: [4, { list: "string" }],
  workingDirectory: [5, "string"],
  env: [6, { list: { key: [1, "string"], value: [2, "string"] } }],
  mounts: [7, { list: Mount }],
  devices: [8, { list: { containerPath: [1, "string"], hostPath: [2, "string"], permissions: [3, "string"] } }],
  labels: [9, "map"],
  logPath: [11, "string"],
  stdin: [12, "bool"],
  stdinOnce: [13, "bool"],
  tty: [14, "bool"],
  linux: [15, { resources: [1, Resources], security: [2, ContainerSecurityContext] }],
} as const;

const Nothing = {} as const;
const SandboxId = { sandboxId: [1, "string"] } as const;
const ContainerId = { containerId: [1, "string"] } as const;

/** State: 0 ready, 1 not. */
const SandboxStatus = {
  status: [1, { id: [1, "string"], state: [3, "int"], network: [5, { ip: [1, "string"] }], handler: [9, "string"] }],
  info: [2, "map"],
} as const;

/** State: 0 created, 1 running, 2 exited. Times: nanoseconds since 1970. */
const ContainerStatus = {
  status: [
    1,
    {
      id: [1, "string"],
      state: [3, "int"],
      startedAt: [5, "int"],
      finishedAt: [6, "int"],
      exitCode: [7, "int"],
      reason: [10, "string"],
      message: [11, "string"],
    },
  ],
  info: [2, "map"],
} as const;

const Cpu = { usageCoreNanoseconds: [2, Value] } as const;
const Memory = { workingSetBytes: [2, Value] } as const;
const ContainerStats = { attributes: [1, { id: [1, "string"] }], cpu: [2, Cpu], memory: [3, Memory] } as const;
const SandboxStats = {
  linux: [2, { cpu: [1, Cpu], memory: [2, Memory], processes: [4, { count: [2, Value] }], containers: [5, { list: ContainerStats }] }],
} as const;

const Status = {
  conditions: [1, { list: { type: [1, "string"], status: [2, "bool"], reason: [3, "string"], message: [4, "string"] } }],
} as const;

/** Request and answer of each call of the RuntimeService. */
export const METHODS = {
  Status: [
    Nothing,
    {
      status: [1, Status],
      handlers: [
        3,
        { list: { name: [1, "string"], features: [2, { recursiveReadOnlyMounts: [1, "bool"], userNamespaces: [2, "bool"] }] } },
      ],
    },
  ],
  RunPodSandbox: [{ config: [1, SandboxConfig], handler: [2, "string"] }, SandboxId],
  StopPodSandbox: [SandboxId, Nothing],
  RemovePodSandbox: [SandboxId, Nothing],
  PodSandboxStatus: [{ sandboxId: [1, "string"], verbose: [2, "bool"] }, SandboxStatus],
  ListPodSandbox: [Nothing, { items: [1, { list: { id: [1, "string"], state: [3, "int"] } }] }],
  PodSandboxStats: [SandboxId, { stats: [1, SandboxStats] }],
  CreateContainer: [{ sandboxId: [1, "string"], config: [2, ContainerConfig], sandboxConfig: [3, SandboxConfig] }, ContainerId],
  StartContainer: [ContainerId, Nothing],
  StopContainer: [{ containerId: [1, "string"], timeout: [2, "int"] }, Nothing],
  RemoveContainer: [ContainerId, Nothing],
  ListContainers: [Nothing, { containers: [1, { list: { id: [1, "string"], sandboxId: [2, "string"], state: [6, "int"] } }] }],
  ContainerStatus: [{ containerId: [1, "string"], verbose: [2, "bool"] }, ContainerStatus],
  UpdateContainerResources: [{ containerId: [1, "string"], linux: [2, Resources] }, Nothing],
  ContainerStats: [ContainerId, { stats: [1, ContainerStats] }],
  ExecSync: [
    { containerId: [1, "string"], command: [2, { list: "string" }], timeout: [3, "int"] },
    { stdout: [1, "bytes"], stderr: [2, "bytes"], exitCode: [3, "int"] },
  ],
  Exec: [
    {
      containerId: [1, "string"],
      command: [2, { list: "string" }],
      tty: [3, "bool"],
      stdin: [4, "bool"],
      stdout: [5, "bool"],
      stderr: [6, "bool"],
    },
    { url: [1, "string"] },
  ],
  Attach: [
    { containerId: [1, "string"], stdin: [2, "bool"], tty: [3, "bool"], stdout: [4, "bool"], stderr: [5, "bool"] },
    { url: [1, "string"] },
  ],
} as const satisfies Readonly<Record<string, readonly [MessageType, MessageType]>>;
