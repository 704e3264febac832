/** The host's side of a container whose machine is its own: the process that engines see is the monitor. */
import { RuntError } from "../../errors/index.ts";
import type { Spec } from "../../spec/index.ts";
import { monitorNamespaces, podResources } from "../asked/pod.ts";
import type { MachineSettings } from "../asked/settings.ts";
import { JAIL } from "../places.ts";
import { type AttachRequest, type MachineRequest, type MonitorRequest, toEnvironment } from "../request.ts";
import { hasNetwork, kvmOf, type MachineParts, TUN } from "./host.ts";
import { type MachineSize, sizeOf } from "./size.ts";

/** Processes and threads of monitor, hypervisor and file server; virtiofsd has a thread for each request under way. */
const PIDS = 256;

/**
 * `create` boots the machine and makes the container in it: after the hooks that make the network and before the pivot, in the namespaces and the
 * cgroup of the monitor, which takes the channel over when it starts. What cannot be made there fails `create`.
 */
export function bootingParts(spec: Spec, asked: AttachRequest, settings: MachineSettings, hasKvm: boolean): MachineParts {
  const { linux } = spec;
  const size = sizeOf(podResources(spec.annotations, linux?.resources), settings);
  const request = requestOf(spec, asked, settings, size, hasKvm);
  const networks = linux?.namespaces?.filter(({ type }) => type === "network") ?? [];
  // A network namespace that the container makes ends with it.
  const network = networks[0]?.path;
  return {
    machine: { socket: JAIL.monitor, memoryMiB: size.memoryMiB },
    role: "machine-monitor",
    environment: toEnvironment({ terminal: request.terminal, memoryMiB: request.memoryMiB } satisfies MonitorRequest),
    making: ["machine-boot", request],
    leaving: network ? { network } : {},
    namespaces: [...networks, { type: "pid" }, { type: "mount" }, ...monitorNamespaces(spec)],
    resources: hostResources(linux?.resources, size),
    devices: [...(hasNetwork(spec) ? [TUN] : []), ...(request.accelerator === "tcg" ? [] : [kvmOf(request.user)])],
  };
}

function requestOf(spec: Spec, asked: AttachRequest, settings: MachineSettings, size: MachineSize, hasKvm: boolean): MachineRequest {
  if (settings.accelerator === "kvm" && !hasKvm) throw new RuntError("not-supported", "a machine with KVM: the host has no /dev/kvm");
  const { seconds, ...container } = asked;
  const { hypervisor, virtiofsd, user, cacheMiB, console } = settings;
  const { cpus, memoryMiB } = size;
  return {
    ...container,
    ...{ network: hasNetwork(spec), cpus, memoryMiB, cacheMiB, accelerator: hasKvm ? settings.accelerator : "tcg" },
    ...{ hypervisor, virtiofsd, user, bootSeconds: seconds, console },
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
