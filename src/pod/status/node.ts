/** Formats this host as a Kubernetes node: its resources, and the pressure on them. */
import type { Node, NodeCondition } from "kubernetes-types/core/v1.js";
import type { NodeView } from "../../engine/index.ts";
import { instant } from "./instant.ts";

/** Measured values of the host. */
export interface HostFacts {
  readonly name: string;
  /** The first address is used for pods in the host's network. */
  readonly addresses: readonly string[];
  /** As in Node's process.arch, such as x64. */
  readonly architecture: string;
  readonly kernel: string;
  readonly version: string;
  readonly measuredMs: number;
  readonly memory: { readonly bytes: number; readonly availableBytes: number };
  /** The file system with the state of the daemon. */
  readonly disk: { readonly bytes: number; readonly availableBytes: number; readonly files: number; readonly freeFiles: number };
  readonly processes: { readonly most: number; readonly used: number };
}

const MIB = 1024 * 1024;
/** Source: Kubernetes, "Node-pressure Eviction", "Hard eviction thresholds". */
const LEAST_MEMORY = 100 * MIB;
const LEAST_DISK = 0.1;
const LEAST_FILES = 0.05;
/** Kubernetes has no default threshold for processes. */
const LEAST_PROCESSES = 0.05;

export function nodeOf({ bootId, ledger, conditions: wrong }: NodeView, host: HostFacts): Node {
  const amounts = {
    cpu: String(ledger.cpus.capacity),
    memory: String(ledger.memoryBytes.capacity),
    "ephemeral-storage": String(host.disk.bytes),
  };
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: host.name, labels: { "kubernetes.io/hostname": host.name, "kubernetes.io/os": "linux" } },
    status: {
      capacity: amounts,
      allocatable: {
        ...amounts,
        cpu: `${Math.max(0, Math.round((ledger.cpus.capacity - ledger.cpus.used) * 1000))}m`,
        memory: String(Math.max(0, ledger.memoryBytes.capacity - ledger.memoryBytes.used)),
        "ephemeral-storage": String(host.disk.availableBytes),
      },
      addresses: [...host.addresses.map((address) => ({ type: "InternalIP", address })), { type: "Hostname", address: host.name }],
      conditions: conditionsOf(wrong, host),
      nodeInfo: {
        architecture: host.architecture === "x64" ? "amd64" : host.architecture,
        bootID: bootId,
        containerRuntimeVersion: `runt://${host.version}`,
        kernelVersion: host.kernel,
        kubeletVersion: `runtd-${host.version}`,
        kubeProxyVersion: "",
        machineID: "",
        operatingSystem: "linux",
        osImage: "",
        systemUUID: "",
      },
    },
  };
}

function conditionsOf(wrong: NodeView["conditions"], { memory, disk, processes, measuredMs }: HostFacts): NodeCondition[] {
  const mebibytes = (bytes: number) => `${Math.floor(bytes / MIB)}Mi`;
  const share = (part: number, whole: number) => (whole === 0 ? 1 : part / whole);
  const percent = (part: number, whole: number) => `${Math.floor(100 * share(part, whole))}%`;
  const isDiskShort = share(disk.availableBytes, disk.bytes) < LEAST_DISK || share(disk.freeFiles, disk.files) < LEAST_FILES;
  const left = processes.most - processes.used;
  const pressure = (type: string, [isShort, has]: readonly [boolean, string]): NodeCondition => ({
    type,
    status: isShort ? "True" : "False",
    reason: `${isShort ? "HasInsufficient" : "HasSufficient"}${type.replace("Pressure", "")}`,
    message: has,
    lastHeartbeatTime: instant(measuredMs),
  });
  // A store that cannot be written is more severe than broken networks, so that it becomes the reason.
  const broken = wrong.find(({ type }) => type === "StoreReadOnly") ?? wrong.find(({ type }) => type === "NetworkBroken");
  return [
    pressure("MemoryPressure", [
      memory.availableBytes < LEAST_MEMORY,
      `${mebibytes(memory.availableBytes)} of ${mebibytes(memory.bytes)} are available`,
    ]),
    pressure("DiskPressure", [
      isDiskShort,
      `${percent(disk.availableBytes, disk.bytes)} of the bytes and ${percent(disk.freeFiles, disk.files)} of the files are free`,
    ]),
    pressure("PIDPressure", [share(left, processes.most) < LEAST_PROCESSES, `${processes.used} of ${processes.most} processes`]),
    {
      type: "Ready",
      status: broken === undefined ? "True" : "False",
      reason: broken?.type ?? "DaemonReady",
      message: broken?.message ?? "pods are started",
      lastHeartbeatTime: instant(measuredMs),
    },
  ];
}
