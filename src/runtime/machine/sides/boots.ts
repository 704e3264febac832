/** The host's side of a container whose machine is its own: the process that engines see is the monitor. */
import type { Spec } from "../../spec/index.ts";
import { type MachineRequest, type MonitorRequest, toEnvironment } from "../request.ts";
import { type HostParts, kvmOf, TUN } from "./host.ts";
import { monitorNamespaces } from "./pinned.ts";
import type { MachineSize } from "./size.ts";

type OwnParts = Pick<HostParts, "role" | "environment" | "making" | "leaving" | "namespaces" | "resources" | "devices">;

/** Processes and threads of monitor, hypervisor and file server; virtiofsd has a thread for each request under way. */
const PIDS = 256;

/** Of its own: the host's is not the machine's. */
export function hasNetwork({ linux }: Pick<Spec, "linux">): boolean {
  return linux?.namespaces?.some(({ type }) => type === "network") ?? false;
}

/**
 * `create` boots the machine and makes the container in it: after the hooks that make the network and before the pivot, in the namespaces and the
 * cgroup of the monitor, which takes the channel over when it starts. What cannot be made there fails `create`.
 */
export function bootingParts(spec: Spec, request: MachineRequest, size: MachineSize): OwnParts {
  const { linux } = spec;
  const networks = linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  // A network namespace that the container makes ends with it.
  const network = networks[0]?.path;
  return {
    role: "machine-monitor",
    environment: toEnvironment({ terminal: request.terminal, memoryMiB: request.memoryMiB } satisfies MonitorRequest),
    making: ["machine-boot", request],
    leaving: network ? { network } : {},
    namespaces: [...networks, { type: "pid" }, { type: "mount" }, ...monitorNamespaces(spec)],
    resources: hostResources(linux?.resources, size),
    devices: [...(hasNetwork(spec) ? [TUN] : []), ...(request.accelerator === "tcg" ? [] : [kvmOf(request.user)])],
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
