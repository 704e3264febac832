/** pause and resume: the freezer of the container. */
import { RuntError, WORDS } from "../errors/index.ts";
import { isolationOf } from "../isolation/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { type CgroupRecord, deriveStatus, lockRecord } from "../state/index.ts";

export function pause(options: RuntimeOptions, id: string): void {
  const { cgroup, isolation, status } = locked(options, id);
  if (status === "paused") throw new RuntError("wrong-status", WORDS.alreadyPaused);
  if (status !== "running" && status !== "created") throw new RuntError("wrong-status", WORDS.notRunning);
  isolation.freeze(cgroup);
}

export function resume(options: RuntimeOptions, id: string): void {
  const { cgroup, isolation, status } = locked(options, id);
  const isFrozen = status === "paused";
  const isThere = isFrozen || status === "running" || status === "created";
  if (!isThere || !isolation.thaw(cgroup, isFrozen)) throw new RuntError("wrong-status", WORDS.notPaused);
}

function locked({ root }: RuntimeOptions, id: string) {
  const { record } = lockRecord(root, id);
  return { cgroup: record.cgroup ?? NO_CGROUP, isolation: isolationOf(record), status: deriveStatus(root, record, true) };
}

/** Freezing then says that there is no freezer. */
const NO_CGROUP: CgroupRecord = { version: 2, paths: [] };
