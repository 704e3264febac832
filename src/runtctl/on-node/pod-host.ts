/** The facts about this host that pods may refer to, as far as they are known without a daemon. */
import { availableParallelism, hostname, totalmem } from "node:os";
import type { PodHost } from "../../pod/index.ts";

export function podHost(): PodHost {
  return {
    name: hostname().toLowerCase(),
    cpus: availableParallelism(),
    memoryBytes: totalmem(),
    images: process.env["RUNT_IMAGES"] || undefined,
  };
}
