/** pause and resume: the freezer of the container. */
import { RuntError, WORDS } from "../errors/index.ts";
import { interruption, ownerOf } from "../execute/index.ts";
import { isolationOf } from "../isolation/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { type CgroupRecord, deriveStatus, lockRecord } from "../state/index.ts";

/** @throws RuntError; then the container goes on as before */
export function pause(options: RuntimeOptions, id: string): void {
  const { cgroup, owner, isolation, status } = locked(options, id);
  if (status === "paused") throw new RuntError("wrong-status", WORDS.alreadyPaused);
  if (status !== "running" && status !== "created") throw new RuntError("wrong-status", WORDS.notRunning);
  try {
    isolation.freeze(cgroup, owner);
  } catch (error) {
    throw interruption(error, (signal) => `${signal}: the container is not paused`) ?? error;
  }
}

export function resume(options: RuntimeOptions, id: string): void {
  const { cgroup, owner, isolation, status } = locked(options, id);
  const isFrozen = status === "paused";
  const isThere = isFrozen || status === "running" || status === "created";
  if (!isThere || !isolation.thaw(cgroup, owner, isFrozen)) throw new RuntError("wrong-status", WORDS.notPaused);
}

function locked({ root }: RuntimeOptions, id: string) {
  const { record } = lockRecord(root, id);
  return {
    cgroup: record.cgroup ?? NO_CGROUP,
    owner: ownerOf(record, root),
    isolation: isolationOf(record),
    status: deriveStatus(root, record, true),
  };
}

/** Freezing then says that there is no freezer. */
const NO_CGROUP: CgroupRecord = { version: 2, paths: [] };
