/** What a cgroup's limits are now, as far as new ones depend on them. */
import type { ResourceConfig } from "../../config/index.ts";
import { RuntError } from "../../errors/index.ts";
import type { CgroupRef } from "../model.ts";
import { readIfThere } from "./tree.ts";

/** v1 shows "unlimited" as the highest multiple of the page size. */
const UNLIMITED_V1 = 1n << 62n;

/** Fill in the other half of pairs that are written together: quota and period (v2), memory+swap and memory. */
export function completeResources(cgroup: CgroupRef, resources: ResourceConfig): ResourceConfig {
  const { cpu, memory } = resources;
  return {
    ...resources,
    ...(cpu && cgroup.version === 2 && { cpu: completeCpu(cgroup, cpu) }),
    ...(memory && { memory: completeMemory(cgroup, memory) }),
  };
}

type Cpu = NonNullable<ResourceConfig["cpu"]>;
type Memory = NonNullable<ResourceConfig["memory"]>;

function completeCpu(cgroup: CgroupRef, cpu: Cpu): Cpu {
  if ((cpu.quota === undefined) === (cpu.period === undefined)) return cpu;
  const [quota = "max", period = "100000"] = (read(cgroup, "cpu.max") ?? "").split(/\s+/);
  if (cpu.quota !== undefined) return { ...cpu, period: BigInt(period) };
  return quota === "max" ? cpu : { ...cpu, quota: BigInt(quota) };
}

function completeMemory(cgroup: CgroupRef, memory: Memory): Memory {
  if (!memory.swap || memory.swap < 0n || memory.limit) return memory;
  const limit = number(read(cgroup, cgroup.version === 2 ? "memory.max" : "memory.limit_in_bytes"));
  return limit === undefined || limit >= UNLIMITED_V1 ? memory : { ...memory, limit };
}

/** memory.checkBeforeUpdate: a limit below the usage would kill, so it is refused. @throws RuntError cgroup, in runc's words */
export function refuseTooLow(cgroup: CgroupRef, { memory }: ResourceConfig): void {
  if (!memory?.checkBeforeUpdate) return;
  const usage = number(read(cgroup, cgroup.version === 2 ? "memory.current" : "memory.usage_in_bytes")) ?? 0n;
  const { limit = 0n, swap = 0n } = memory;
  if (limit > 0n && limit <= usage) {
    throw new RuntError("cgroup", `rejecting memory limit ${limit} <= usage ${usage}`, { pointer: "/linux/resources/memory/limit" });
  }
  const both =
    cgroup.version === 2
      ? usage + (number(read(cgroup, "memory.swap.current")) ?? 0n)
      : number(read(cgroup, "memory.memsw.usage_in_bytes"));
  if (swap > 0n && both !== undefined && swap <= both) {
    throw new RuntError("cgroup", `rejecting memory+swap limit ${swap} <= usage ${both}`, { pointer: "/linux/resources/memory/swap" });
  }
}

/** Content of a file of the container's cgroup, in whichever hierarchy has it. */
function read({ paths }: CgroupRef, file: string): string | undefined {
  for (const path of paths) {
    const text = readIfThere(`${path}/${file}`);
    if (text !== undefined) return text.trim();
  }
  return undefined;
}

function number(text: string | undefined): bigint | undefined {
  return text !== undefined && /^\d+$/.test(text) ? BigInt(text) : undefined;
}
