/** ps: the processes of a container, as the host sees them. */
import { cgroupProcesses } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import { readRecord } from "../state/index.ts";
import type { RuntimeOptions } from "./options.ts";

/** Host pids, ascending; none when it has stopped. */
export function processes({ root }: RuntimeOptions, id: string): readonly number[] {
  const { cgroup } = readRecord(root, id);
  if (!cgroup) throw new RuntError("cgroup", "ps requires the container to have a cgroup");
  return cgroupProcesses(cgroup);
}
