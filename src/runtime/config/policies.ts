/** Scheduler, I/O priority, NUMA memory policy and personality: names to numbers. The checks have seen to it that they are known. */
import {
  IO_PRIORITY_CLASSES,
  MEMORY_POLICY_FLAGS,
  MEMORY_POLICY_MODES,
  PERSONALITY_DOMAINS,
  SCHEDULER_FLAGS,
  SCHEDULER_POLICIES,
} from "../../shared/linux/index.ts";
import type { SpecLinux, SpecProcess } from "../spec/index.ts";
import { policyNodeList } from "./number-list.ts";
import type { IoPriority, MemoryPolicy, SchedulerConfig } from "./types.ts";

type Names = Readonly<Record<string, number>>;

export function deriveScheduler(scheduler: NonNullable<SpecProcess["scheduler"]>): SchedulerConfig {
  return {
    policy: numberOf(SCHEDULER_POLICIES, scheduler.policy),
    flags: flagsOf(SCHEDULER_FLAGS, scheduler.flags),
    nice: scheduler.nice ?? 0,
    priority: scheduler.priority ?? 0,
    runtime: BigInt(scheduler.runtime ?? 0),
    deadline: BigInt(scheduler.deadline ?? 0),
    period: BigInt(scheduler.period ?? 0),
  };
}

export function deriveIoPriority(ioPriority: NonNullable<SpecProcess["ioPriority"]>): IoPriority {
  return { class: numberOf(IO_PRIORITY_CLASSES, ioPriority.class), priority: Number(ioPriority.priority ?? 0) };
}

/** @throws RuntError "config-invalid" for nodes that are no list */
export function deriveMemoryPolicy({ mode, nodes, flags }: NonNullable<SpecLinux["memoryPolicy"]>): MemoryPolicy {
  return {
    mode: numberOf(MEMORY_POLICY_MODES, mode),
    flags: flagsOf(MEMORY_POLICY_FLAGS, flags),
    nodes: policyNodeList(nodes ?? ""),
  };
}

/** PER_* of the domain. */
export function derivePersonality({ domain }: NonNullable<SpecLinux["personality"]>): number {
  return numberOf(PERSONALITY_DOMAINS, domain);
}

function numberOf(names: Names, name: string | null | undefined): number {
  const number = names[name ?? ""];
  if (number === undefined) throw new TypeError(`${name} was not checked`);
  return number;
}

function flagsOf(names: Names, flags: readonly string[] | null | undefined): number {
  return (flags ?? []).reduce((sum, flag) => sum | numberOf(names, flag), 0);
}
