/** A slice of systemd's for a group of containers, for a daemon that cannot talk to systemd itself. */
import type * as systemdDriver from "../cgroup/systemd/index.ts";
import { loadSync } from "../host/index.ts";

/** For the one verb that needs it: its other actions are called often. */
function driver(): typeof systemdDriver {
  return loadSync(import("../cgroup/systemd/index.ts"));
}

/** @param properties "MemoryMax=uint64 67108864" @throws RuntError config-invalid, cgroup */
export function startSlice(name: string, properties: readonly string[]): void {
  driver().startSlice(name, properties);
}

/** @throws RuntError config-invalid, cgroup */
export function stopSlice(name: string): void {
  driver().stopSlice(name);
}
