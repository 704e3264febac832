/** What stands on the host for a container: the monitor of its own machine, or a process in the pid namespace of another one's. */
import { RuntError } from "../../errors/index.ts";
import type { Spec, SpecDevice } from "../../spec/index.ts";
import { monitorNamespaces, podResources, type SpecNamespace } from "../asked/pod.ts";
import type { MachineSettings } from "../asked/settings.ts";
import { JAIL, MONITOR_OF_THE_SANDBOX } from "../places.ts";
import {
  type AttachRequest,
  type Disk,
  type JoinedRequest,
  type MachineRequest,
  type MonitorRequest,
  SOCKET_VARIABLE,
  toEnvironment,
} from "../request.ts";
import { diskNodes } from "./devices.ts";
import { hasNetwork, kvmOf, type MachineParts, TUN } from "./host.ts";
import { type MachineSize, roomFor, sizeOf } from "./size.ts";

export interface NamespaceOwner {
  /** The id of a container that has joined. */
  readonly joined?: string;
}

/** The machine that a container joins: the monitor's process, and how large the machine is. */
export interface SandboxMachine {
  readonly pid: number;
  /** As /proc/PID/stat has it. */
  readonly startTime: string;
  readonly memoryMiB: number;
  /** Whose namespace this is in the machine: the first container's, that of one that has joined, or (undefined) none that is there. */
  readonly ownerOf: (type: string, path: string) => NamespaceOwner | undefined;
}

/** What of the host has a part in how a machine is. */
export interface HostFindings {
  /** It has /dev/kvm. */
  readonly hasKvm?: boolean;
  readonly sharedMemoryKiB?: number;
}

/** As much as engines give to a pod. */
const SHARED_MEMORY_KIB = 65_536;

/** Processes and threads of monitor, hypervisor and file server; virtiofsd has a thread for each request under way. */
const PIDS = 256;

/**
 * `create` boots the machine and makes the container in it: after the hooks that make the network and before the pivot, in the namespaces and the
 * cgroup of the monitor, which takes the channel over when it starts. What cannot be made there fails `create`.
 */
export function bootingParts(spec: Spec, asked: AskedContainer, settings: MachineSettings, found: HostFindings): MachineParts {
  const { linux } = spec;
  const size = sizeOf(podResources(spec.annotations, linux?.resources), settings);
  const request = requestOf(spec, asked, settings, size, found);
  const networks = linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  // A network namespace that the container makes ends with it.
  const network = networks[0]?.path;
  const ruled = [...(request.accelerator === "tcg" ? [] : [kvmOf(request.user)]), ...diskNodes(request.disks)];
  return {
    machine: { socket: JAIL.monitor, memoryMiB: size.memoryMiB },
    role: "machine-monitor",
    environment: toEnvironment({
      terminal: request.terminal,
      memoryMiB: request.memoryMiB,
      cpus: request.cpus,
    } satisfies MonitorRequest),
    making: ["machine-boot", request],
    leaving: network ? { network } : {},
    namespaces: [...networks, { type: "pid" }, { type: "mount" }, ...monitorNamespaces(spec)],
    resources: { ...hostResources(linux?.resources, size), ...(ruled.length > 0 && { devices: rulesFor(ruled) }) },
    devices: [...(hasNetwork(spec) ? [TUN] : []), ...ruled],
  };
}

/** What is asked for a container, whoever has its machine. */
export interface AskedContainer extends AttachRequest {
  readonly disks: readonly Disk[];
}

/** What processes of the machine may open beside the devices of every container, of which /dev/net/tun is one. */
function rulesFor(devices: readonly SpecDevice[]) {
  return devices.map(({ type, major, minor }) => ({ allow: true, type, major: major!, minor: minor!, access: "rw" }));
}

function requestOf(
  spec: Spec,
  asked: AskedContainer,
  settings: MachineSettings,
  size: MachineSize,
  { hasKvm = false, sharedMemoryKiB = SHARED_MEMORY_KIB }: HostFindings,
): MachineRequest {
  if (settings.accelerator === "kvm" && !hasKvm) throw new RuntError("not-supported", "a machine with KVM: the host has no /dev/kvm");
  const { seconds, ...container } = asked;
  const { hypervisor, virtiofsd, user, cacheMiB, console, kernelParameters, fileCache } = settings;
  const { cpus, memoryMiB } = size;
  return {
    ...container,
    ...{ network: hasNetwork(spec), cpus, memoryMiB, cacheMiB, accelerator: hasKvm ? settings.accelerator : "tcg" },
    ...{ hypervisor, virtiofsd, user, bootSeconds: seconds, console, kernelParameters, fileCache, sharedMemoryKiB },
  };
}

/** Where the machine runs is the container's choice; what it uses follows from its size. Its own limits hold in the guest. */
function hostResources(asked: NonNullable<Spec["linux"]>["resources"], { hostBytes }: MachineSize) {
  const { cpus, mems, shares } = asked?.cpu ?? {};
  return {
    memory: { limit: hostBytes },
    pids: { limit: PIDS },
    cpu: { ...(cpus !== undefined && { cpus }), ...(mems !== undefined && { mems }), ...(shares !== undefined && { shares }) },
  };
}

/** Of the process that stands for the container, and of those that `exec` adds. */
const JOINED_BYTES = 64 * 1024 ** 2;
const JOINED_PIDS = 64;

/** @throws RuntError not-supported: it may use more than the machine has */
export function joiningParts(spec: Spec, asked: AskedContainer, { pid, startTime, memoryMiB }: SandboxMachine): MachineParts {
  const { disks, ...request } = asked;
  const { id, terminal } = request;
  if (disks.length > 0) {
    const [{ major, minor }] = disks as [Disk];
    const pointer = "/linux/devices";
    throw new RuntError("not-supported", `the block device ${major}:${minor}: the machine of its sandbox gets no disks after its boot`, {
      pointer,
    });
  }
  const room = roomFor(memoryMiB, spec.linux?.resources);
  if (room !== undefined) {
    const pointer = "/linux/resources/memory/limit";
    throw new RuntError("not-supported", `the machine of its sandbox has ${room} MiB for containers, and does not grow`, { pointer });
  }
  const networks: SpecNamespace[] = spec.linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  return {
    machine: { socket: MONITOR_OF_THE_SANDBOX, memoryMiB, joined: { pid, startTime } },
    role: "machine-join",
    environment: [
      ...toEnvironment({ what: "adoption", name: id, terminal, memoryMiB } satisfies JoinedRequest),
      `${SOCKET_VARIABLE}=${MONITOR_OF_THE_SANDBOX}`,
    ],
    making: ["machine-attach", request],
    leaving: { joined: { id, pid, startTime } },
    namespaces: [...networks, { type: "pid", path: `/proc/${pid}/ns/pid` }, ...["mount", "ipc", "uts"].map((type) => ({ type }))],
    resources: { memory: { limit: JOINED_BYTES }, pids: { limit: JOINED_PIDS } },
    devices: [],
  };
}
