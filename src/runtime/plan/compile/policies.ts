import type { Scope } from "./scope.ts";

/** How the kernel treats the process: as late as the rights for it allow, because it holds for init's own work too. */
export function addPolicies({ builder, config }: Scope): void {
  const { process, memoryPolicy, personality } = config;
  if (process?.scheduler) {
    const { nice, ...attributes } = process.scheduler;
    builder.add("init", "process", "process.scheduler", { ...attributes, nice: BigInt(nice) }, "/process/scheduler");
  }
  if (process?.ioPriority) builder.add("init", "process", "process.ioPriority", process.ioPriority, "/process/ioPriority");
  if (memoryPolicy) builder.add("init", "process", "process.memoryPolicy", memoryPolicy, "/linux/memoryPolicy");
  if (personality !== undefined) builder.add("init", "process", "process.personality", { domain: personality }, "/linux/personality");
}
