/** A cgroup is stopped as a whole, where its hierarchy can do that. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { readIfThere } from "../process/cgroups.ts";

/** Longest wait for a process that the kernel cannot stop, because it waits for a device. */
const FREEZE_MS = 1_000;
const LOOK_MS = 1;

/** Returns when every process in it has stopped: the kernel stops one after the other. */
export async function freeze(directory: string): Promise<void> {
  write(directory, ["1", "FROZEN"]);
  const deadline = performance.now() + FREEZE_MS;
  while (isFreezing(directory) && performance.now() < deadline) await sleep(LOOK_MS);
}

export function thaw(directory: string): void {
  write(directory, ["0", "THAWED"]);
}

/** cgroup.freeze of v2, the freezer of v1. */
function write(directory: string, [v2, v1]: readonly [string, string]): void {
  for (const [file, word] of [
    ["cgroup.freeze", v2],
    ["freezer.state", v1],
  ] as const) {
    try {
      // Not made: another hierarchy has no such file.
      writeFileSync(join(directory, file), word, { flag: "r+" });
    } catch {}
  }
}

function isFreezing(directory: string): boolean {
  const events = readIfThere(join(directory, "cgroup.events")) ?? "";
  return /^frozen 0$/m.test(events) || readIfThere(join(directory, "freezer.state"))?.trim() === "FREEZING";
}
