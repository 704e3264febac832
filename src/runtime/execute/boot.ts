import * as host from "../host/index.ts";

/** What tells this boot from others: pids, mounts and cgroups are of one boot (random(4)). */
export function bootId(): string {
  return host.readFile("/proc/sys/kernel/random/boot_id", undefined, true).trim();
}
