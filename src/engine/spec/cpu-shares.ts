import { HIGHEST_SHARES, LOWEST_SHARES } from "../../shared/linux/index.ts";

const [LEAST, MOST] = [Number(LOWEST_SHARES), Number(HIGHEST_SHARES)];

/** The value that the kernel gets for cpuShares: it takes 2 to 262144 (kernel/sched/sched.h). undefined: the container does not set it. */
export function appliedShares({ cpuShares }: { readonly cpuShares?: number | undefined }): number | undefined {
  return cpuShares === undefined ? undefined : Math.min(MOST, Math.max(LEAST, cpuShares));
}
