import { RuntError } from "../errors/index.ts";

/** More than any kernel is built for (CONFIG_NR_CPUS). */
const LIMIT = 8192;

/** The numbers of a list like "0-3,7" (cpuset(7), list format), ascending. @throws RuntError "config-invalid" */
export function cpuList(text: string, pointer: string): readonly number[] {
  const cpus = new Set<number>();
  for (const part of text.split(",").map((entry) => entry.trim())) {
    if (part === "") continue;
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part);
    const [first, last] = [Number(match?.[1]), Number(match?.[2] ?? match?.[1])];
    if (!(first <= last && last < LIMIT)) throw new RuntError("config-invalid", `"${text}" is not a list of CPUs`, { pointer });
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return [...cpus].sort((one, other) => one - other);
}
