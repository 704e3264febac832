/** What a machine cannot do is refused by name, before anything is done; what has no effect there is named as a warning. */
import { RuntError } from "../../errors/index.ts";
import type { Spec, SpecMount } from "../../spec/index.ts";
import { isPinned, type SpecNamespace } from "../asked/pod.ts";
import type { MachineSettings } from "../asked/settings.ts";
import { hasNetwork } from "./host.ts";
import type { SandboxMachine } from "./parts.ts";
import { isBind } from "./volumes.ts";

/** File systems that the guest's kernel makes by itself. */
const GUEST_TYPES: ReadonlySet<string> = new Set(["proc", "sysfs", "tmpfs", "devpts", "mqueue", "cgroup", "cgroup2"]);
const SHARING: ReadonlySet<string> = new Set(["shared", "rshared"]);

/** @throws RuntError not-supported */
export function refuseUnsupported(spec: Spec, sandbox?: SandboxMachine): void {
  const { hooks, linux } = spec;
  if (linux?.netDevices && Object.keys(linux.netDevices).length > 0) refuse("/linux/netDevices", "network devices of the host");
  if (linux?.intelRdt) refuse("/linux/intelRdt", "resource control of the host's processors");
  if (linux?.seccomp?.listenerPath) refuse("/linux/seccomp/listenerPath", "a seccomp listener on the host");
  if (linux?.rootfsPropagation && SHARING.has(linux.rootfsPropagation)) {
    refuse("/linux/rootfsPropagation", "mounts that are shared with the host");
  }
  if (hooks?.createContainer && hooks.createContainer.length > 0) {
    refuse("/hooks/createContainer", "hooks of the host in the container's namespaces");
  }
  for (const type of ["pid", "ipc"]) {
    const index = linux?.namespaces?.findIndex((namespace) => namespace.type === type) ?? -1;
    if (index === -1) refuse("/linux/namespaces", `the ${type} namespace of the host`);
  }
  for (const [index, { type, path }] of (linux?.namespaces ?? []).entries()) {
    if (sandbox) refuseInSandbox(sandbox, { type, path }, `/linux/namespaces/${index}`);
    else if (path && type !== "network" && !isPinned(spec, { type, path })) {
      refuse(`/linux/namespaces/${index}/path`, `a ${type} namespace of others`);
    }
  }
  for (const [index, mount] of (spec.mounts ?? []).entries()) refuseMount(mount, `/mounts/${index}`);
}

/** Of the machine that it joins it has the network, and what else of its namespaces is asked for. */
function refuseInSandbox(sandbox: SandboxMachine, { type, path }: SpecNamespace, pointer: string): void {
  if (path && !sandbox.ownerOf(type, path)) refuse(`${pointer}/path`, `a ${type} namespace of others than its sandbox`);
  if (!path && type === "network") refuse(pointer, "a network of its own in the machine of its sandbox");
}

function refuseMount(mount: SpecMount, pointer: string): void {
  const { uidMappings, gidMappings } = mount;
  const [options, type] = [mount.options ?? [], mount.type ?? ""];
  const shared = options.findIndex((option) => SHARING.has(option));
  if (shared !== -1) refuse(`${pointer}/options/${shared}`, "mounts that are shared with the host");
  const mapped = options.findIndex((option) => option === "idmap" || option === "ridmap");
  if (mapped !== -1 || (uidMappings?.length ?? 0) > 0 || (gidMappings?.length ?? 0) > 0) refuse(pointer, "id-mapped mounts");
  if (!isBind(mount) && !GUEST_TYPES.has(type)) refuse(`${pointer}/type`, `a file system of type ${type}`);
}

function refuse(pointer: string, what: string): never {
  throw new RuntError("not-supported", `a container in a machine cannot have ${what}`, { pointer });
}

export interface SideWarning {
  readonly pointer: string;
  readonly message: string;
}

/** What has no effect in a machine. */
export function warningsOf({ linux, mounts, process }: Spec): SideWarning[] {
  const warnings: SideWarning[] = [];
  const warn = (pointer: string, message: string): void => void warnings.push({ pointer, message });
  if (!hasNetwork({ linux })) warn("/linux/namespaces", "the machine has no network: the host's is not reached from it");
  if (process?.apparmorProfile) warn("/process/apparmorProfile", "the guest's kernel has no AppArmor: the profile has no effect");
  if (process?.selinuxLabel) warn("/process/selinuxLabel", "the guest's kernel has no SELinux: the label has no effect");
  for (const name of ["blockIO", "hugepageLimits", "rdma", "network"] as const) {
    if (linux?.resources?.[name]) warn(`/linux/resources/${name}`, `${name} has no effect in a machine`);
  }
  mounts?.forEach(({ options }, index) => {
    const slave = (options ?? []).findIndex((option) => option === "slave" || option === "rslave");
    if (slave !== -1) warn(`/mounts/${index}/options/${slave}`, "what is mounted on the host later does not appear in a machine");
  });
  return warnings;
}

/** Of a machine that is emulated although the operator has not chosen so. */
export function emulationWarning({ accelerator }: MachineSettings, hasKvm = false, kvmFails = false): SideWarning[] {
  if (accelerator !== "auto" || (hasKvm && !kvmFails)) return [];
  const why = hasKvm ? "KVM has not booted a guest on this host when it was tried" : "the host has no /dev/kvm";
  return [{ pointer: "", message: `the machine runs by software emulation, which is slow: ${why}` }];
}
