/** One configuration becomes two: what is done on the host, and what in the machine. */
import { RuntError } from "../../errors/index.ts";
import { printJson, type Spec, type SpecMount } from "../../spec/index.ts";
import { guestSpec } from "./guest.ts";
import { type HostParts, hasNetwork, hostSpec } from "./host.ts";
import { refuseUnsupported } from "./refuse.ts";
import type { MachineSettings } from "./settings.ts";
import { sizeOf } from "./size.ts";
import { isBind, mountPoints, splitBind } from "./volumes.ts";

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
}

/** @throws RuntError not-supported or config-invalid, with a pointer */
export function splitSpec(spec: Spec, input: SplitInput): Sides {
  const { id, inBundle, runt } = input;
  refuseUnsupported(spec);
  const settings = chosenBy(spec, input.settings);
  const size = sizeOf(spec.linux?.resources, settings);
  const volumes: SpecMount[] = [];
  const mounts = (spec.mounts ?? []).map((mount) => {
    if (!isBind(mount)) return mount;
    const halves = splitBind({ ...mount, source: inBundle(mount.source ?? "") }, volumes.length);
    volumes.push(halves.host);
    return halves.guest;
  });
  const guest = guestSpec(spec, mounts);
  const { hypervisor, virtiofsd, user, bootSeconds, cacheMiB, console } = settings;
  const { cpus, memoryMiB } = size;
  const rootfs = inBundle(spec.root?.path ?? "");
  const request = {
    ...{ id, rootfs, mountPoints: spec.root?.readonly === true ? mountPoints(spec.mounts ?? [], inBundle) : [] },
    ...{ config: printJson(guest), terminal: spec.process?.terminal ?? false, network: hasNetwork(spec) },
    ...{ cpus, memoryMiB, cacheMiB, accelerator: "tcg" as const, hypervisor, virtiofsd, user, bootSeconds, console },
  };
  const host = hostSpec(spec, { settings, size, request, runt, rootfs, volumes });
  return { host, guest, warnings: warningsOf(spec) };
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
