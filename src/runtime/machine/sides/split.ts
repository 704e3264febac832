/** One configuration becomes two: what is done on the host, and what in the machine. */
import { RuntError } from "../../errors/index.ts";
import { printJson, type Spec, type SpecMount } from "../../spec/index.ts";
import type { AttachRequest, MachineRequest } from "../request.ts";
import { bootingParts, hasNetwork } from "./boots.ts";
import { guestSpec, sharedOf } from "./guest.ts";
import { type HostParts, hostSpec } from "./host.ts";
import { joiningParts, type SandboxMachine } from "./joins.ts";
import { podPart, podResources } from "./pod.ts";
import { refuseUnsupported } from "./refuse.ts";
import type { MachineSettings } from "./settings.ts";
import { sizeOf } from "./size.ts";
import { isBind, isSharedMemory, mountPoints, sharedInGuest, splitBind } from "./volumes.ts";

export interface Sides {
  readonly host: Spec;
  readonly guest: Spec;
  readonly warnings: readonly SideWarning[];
}

export interface SideWarning {
  readonly pointer: string;
  readonly message: string;
}

export interface SplitInput extends Pick<HostParts, "runt"> {
  readonly id: string;
  /** A path of the configuration as an absolute one: relative ones start in the bundle. */
  readonly inBundle: (path: string) => string;
  readonly settings: MachineSettings;
  /** The host has /dev/kvm. */
  readonly hasKvm?: boolean;
  /** KVM was tried, and has booted no guest. */
  readonly kvmFails?: boolean;
  /** The machine that it joins; without one it has a machine of its own. */
  readonly sandbox?: SandboxMachine;
}

/** @throws RuntError not-supported or config-invalid, with a pointer */
export function splitSpec(spec: Spec, input: SplitInput): Sides {
  const { id, inBundle, runt, sandbox } = input;
  refuseUnsupported(spec, sandbox);
  const settings = chosenBy(spec, input.settings);
  const { mounts, volumes } = splitMounts(spec, input);
  const guest = guestSpec(spec, mounts, sandbox && [id, sandbox]);
  const rootfs = inBundle(spec.root?.path ?? "");
  const asked = {
    ...{ id, rootfs, mountPoints: spec.root?.readonly === true ? mountPoints(spec.mounts ?? [], inBundle) : [] },
    ...{ config: printJson(guest), terminal: spec.process?.terminal ?? false },
  };
  const parts = sandbox
    ? joiningParts(spec, { ...asked, seconds: settings.bootSeconds }, sandbox)
    : booting(spec, asked, settings, input.hasKvm ?? false);
  return {
    host: hostSpec(spec, { settings, runt, rootfs, volumes, ...parts }),
    guest,
    warnings: [...warningsOf(spec), ...emulationWarning(settings, input)],
  };
}

/** Of a machine that is emulated although the operator has not chosen so. */
function emulationWarning({ accelerator }: MachineSettings, { hasKvm, kvmFails, sandbox }: SplitInput): SideWarning[] {
  if (sandbox || accelerator !== "auto" || (hasKvm && !kvmFails)) return [];
  const why = hasKvm ? "KVM has not booted a guest on this host when it was tried" : "the host has no /dev/kvm";
  return [{ pointer: "", message: `the machine runs by software emulation, which is slow: ${why}` }];
}

function booting(spec: Spec, asked: Omit<AttachRequest, "seconds">, settings: MachineSettings, hasKvm: boolean) {
  const size = sizeOf(podResources(spec.annotations, spec.linux?.resources), settings);
  if (settings.accelerator === "kvm" && !hasKvm) throw new RuntError("not-supported", "a machine with KVM: the host has no /dev/kvm");
  const { hypervisor, virtiofsd, user, bootSeconds, cacheMiB, console } = settings;
  const { cpus, memoryMiB } = size;
  const request: MachineRequest = {
    ...asked,
    ...{ network: hasNetwork(spec), cpus, memoryMiB, cacheMiB, accelerator: hasKvm ? settings.accelerator : "tcg" },
    ...{ hypervisor, virtiofsd, user, bootSeconds, console },
  };
  return bootingParts(spec, request, size);
}

/** Each bind mount has a half on the host, and one in the guest. */
function splitMounts(spec: Spec, { id, inBundle, sandbox }: SplitInput) {
  const inPod = sandbox !== undefined || podPart(spec.annotations) !== undefined;
  const volumes: SpecMount[] = [];
  const mounts = (spec.mounts ?? []).map((mount) => {
    if (!isBind(mount)) return mount;
    if (inPod && isSharedMemory(mount)) return sharedInGuest(mount);
    const halves = splitBind({ ...mount, source: inBundle(mount.source ?? "") }, volumes.length, sharedOf(sandbox && id));
    volumes.push(halves.host);
    return halves.guest;
  });
  return { mounts, volumes };
}

/** What the section `vm` of the configuration chooses (config-vm.md of the specification). @throws RuntError not-supported */
function chosenBy({ vm }: Spec, settings: MachineSettings): MachineSettings {
  if (vm === undefined) return settings;
  const hypervisor = member(member(vm, "hypervisor"), "path");
  const kernel = member(member(vm, "kernel"), "path");
  const refuse = (pointer: string, what: string): never => {
    throw new RuntError("not-supported", `${what}: the operator's configuration has not allowed it`, { pointer });
  };
  for (const [part, name] of [
    ["hypervisor", "parameters"],
    ["kernel", "parameters"],
    ["kernel", "initrd"],
  ] as const) {
    if (member(member(vm, part), name) !== undefined) refuse(`/vm/${part}/${name}`, `${name} of the ${part}`);
  }
  for (const part of ["image", "hwConfig"]) if (member(vm, part) !== undefined) refuse(`/vm/${part}`, `a machine's ${part}`);
  const image = typeof kernel === "string" ? kernel.replace(/\/boot\/vmlinux$/, "") : undefined;
  if (kernel !== undefined && (image === undefined || (image !== settings.image && !settings.allow.images.includes(image)))) {
    refuse("/vm/kernel/path", `the kernel ${String(kernel)}`);
  }
  if (hypervisor !== undefined && hypervisor !== settings.hypervisor && !settings.allow.hypervisors.includes(String(hypervisor))) {
    refuse("/vm/hypervisor/path", `the hypervisor ${String(hypervisor)}`);
  }
  return { ...settings, ...(image !== undefined && { image }), ...(hypervisor !== undefined && { hypervisor: String(hypervisor) }) };
}

function warningsOf({ linux, mounts, process }: Spec): SideWarning[] {
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

function member(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}
