/** update: other limits for a container that exists. */
import { updateCgroup } from "../cgroup/index.ts";
import { deriveResources } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import type { SpecResources } from "../spec/index.ts";
import { containerDirectory, lock, readRecord } from "../state/index.ts";
import type { RuntimeOptions } from "./options.ts";
import { deriveStatus } from "./status.ts";

export function update({ root }: RuntimeOptions, id: string, asked: SpecResources): void {
  readRecord(root, id);
  lock(containerDirectory(root, id));
  const record = readRecord(root, id);
  const status = deriveStatus(root, record);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", WORDS.notRunning);
  if (!record.cgroup) throw new RuntError("cgroup", "update requires the container to have a cgroup");
  const { pids, ...rest } = deriveResources(asked, () => {});
  // Zero is "not given" to the clients that write it.
  updateCgroup(record.cgroup, pids && pids.limit !== 0n ? { ...rest, pids } : rest);
}
