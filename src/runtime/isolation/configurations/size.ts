/** How large the machine of one container is, and what its processes may use on the host (docs/vm.md has the numbers). */
import { RuntError } from "../../errors/index.ts";
import type { Integer, SpecResources } from "../../spec/index.ts";
import { LEAST_MIB, type MachineSettings } from "../asked/settings.ts";

export interface MachineSize {
  readonly cpus: number;
  readonly memoryMiB: number;
  /** Bytes that hypervisor, file server and monitor may use together with the guest's memory. */
  readonly hostBytes: number;
}

/** MiB that the guest's kernel and first process need beside the container. */
const GUEST_OWN_MIB = 96;
/** MiB that the processes on the host need beside the guest's memory and the translation cache. */
const HOST_OWN_MIB = 160;
const MIB = 1024 ** 2;

/** @throws RuntError config-invalid where that is more than the operator allows */
export function sizeOf(resources: SpecResources | null | undefined, settings: MachineSettings): MachineSize {
  const [quota, period] = [resources?.cpu?.quota, resources?.cpu?.period];
  const { cpus: ownCpus = 0, cpusMost = Number.POSITIVE_INFINITY, memoryMiB: ownMiB } = settings.own ?? {};
  const time = positive(quota) && positive(period) ? Number(quota) / Number(period) : 0;
  const cpus = Math.min(cpusMost, Math.max(1, Math.ceil(ownCpus + time)));
  const limit = resources?.memory?.limit;
  const asked = positive(limit) && Number(limit) < 2 ** 62 ? Math.ceil(Number(limit) / MIB) : undefined;
  const wanted = asked === undefined ? (ownMiB ?? settings.memoryMiB) : asked + Math.max(GUEST_OWN_MIB, ownMiB ?? 0);
  const memoryMiB = Math.max(LEAST_MIB, even(wanted));
  if (memoryMiB > settings.memoryMostMiB) {
    throw tooLarge("/linux/resources/memory/limit", `a machine of ${memoryMiB} MiB`, `${settings.memoryMostMiB} MiB`);
  }
  if (cpus > settings.cpusMost) throw tooLarge("/linux/resources/cpu/quota", `a machine of ${cpus} CPUs`, `${settings.cpusMost}`);
  return { cpus, memoryMiB, hostBytes: (memoryMiB + settings.cacheMiB + HOST_OWN_MIB) * MIB };
}

function tooLarge(pointer: string, what: string, most: string): RuntError {
  return new RuntError("config-invalid", `${what}: the operator allows at most ${most}`, { pointer });
}

function positive(value: Integer | null | undefined): value is Integer {
  return typeof value === "bigint" ? value > 0n : (value ?? 0) > 0;
}

function even(value: number): number {
  return value + (value % 2);
}

/** undefined: the limit fits into a machine of this size. Else what there is, in MiB. */
export function roomFor(memoryMiB: number, resources: SpecResources | null | undefined): number | undefined {
  const limit = resources?.memory?.limit;
  const room = guestRoom(memoryMiB);
  return positive(limit) && Number(limit) < 2 ** 62 && Number(limit) > room * MIB ? room : undefined;
}

/** How much of a machine its containers may use, in MiB. */
export function guestRoom(memoryMiB: number): number {
  return memoryMiB - GUEST_OWN_MIB;
}
