/** What pods may ask of this host, as far as it is known without a daemon. */
import { availableParallelism, hostname, totalmem } from "node:os";
import type { PodHost } from "../pod/index.ts";

export function podHost(): PodHost {
  return { name: hostname().toLowerCase(), cpus: availableParallelism(), memoryBytes: totalmem() };
}
