/** pause and resume: the freezer of the container's cgroup. */
import { freeze, thaw } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { inMachine } from "../execute/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { type CgroupRecord, containerDirectory, deriveStatus, lock, readRecord } from "../state/index.ts";

export function pause(options: RuntimeOptions, id: string): void {
  const { cgroup, guest, status } = locked(options, id);
  if (status === "paused") throw new RuntError("wrong-status", WORDS.alreadyPaused);
  if (status !== "running" && status !== "created") throw new RuntError("wrong-status", WORDS.notRunning);
  guest?.pause();
  freeze(cgroup);
}

export function resume(options: RuntimeOptions, id: string): void {
  const { cgroup, guest, status } = locked(options, id);
  if (status !== "paused") throw new RuntError("wrong-status", WORDS.notPaused);
  guest?.resume();
  thaw(cgroup);
}

function locked({ root }: RuntimeOptions, id: string) {
  readRecord(root, id);
  lock(containerDirectory(root, id));
  const record = readRecord(root, id, true);
  const guest = record.annotations["io.runt.isolation"] === "vm" ? inMachine().freezerOf(record) : undefined;
  return { cgroup: record.cgroup ?? NO_CGROUP, guest, status: deriveStatus(root, record, true) };
}

/** Freezing then says that there is no freezer. */
const NO_CGROUP: CgroupRecord = { version: 2, paths: [] };
