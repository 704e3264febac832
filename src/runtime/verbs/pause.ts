/** pause and resume: the freezer of the container's cgroup. */
import { freeze, thaw } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import { freezerOf, type GuestFreezer } from "../execute/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import { type CgroupRecord, containerDirectory, deriveStatus, lock, readAgain, readRecord } from "../state/index.ts";

export function pause(options: RuntimeOptions, id: string): void {
  const { cgroup, guest, status } = locked(options, id);
  if (status === "paused") throw new RuntError("wrong-status", WORDS.alreadyPaused);
  if (status !== "running" && status !== "created") throw new RuntError("wrong-status", WORDS.notRunning);
  guest?.pause();
  try {
    freeze(cgroup);
  } catch (error) {
    if (guest) undoPause(cgroup, guest);
    throw error;
  }
}

/** So that the container goes on as before. What cannot be undone is left to a later resume, which looks in both places. */
function undoPause(cgroup: CgroupRecord, guest: GuestFreezer): void {
  for (const undo of [() => thaw(cgroup), guest.resume]) {
    try {
      undo();
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
  }
}

export function resume(options: RuntimeOptions, id: string): void {
  const { cgroup, guest, status } = locked(options, id);
  const isPaused = status === "paused";
  // A pause that was killed half way has paused it in the guest only.
  const isThere = isPaused || status === "running" || status === "created";
  const wasPausedInGuest = isThere && guest?.resume();
  if (!isPaused && !wasPausedInGuest) throw new RuntError("wrong-status", WORDS.notPaused);
  if (isPaused) thaw(cgroup);
}

function locked({ root }: RuntimeOptions, id: string) {
  readRecord(root, id);
  lock(containerDirectory(root, id));
  const record = readAgain(root, id);
  const guest = record.annotations["io.runt.isolation"] === "vm" ? freezerOf(record) : undefined;
  return { cgroup: record.cgroup ?? NO_CGROUP, guest, status: deriveStatus(root, record, true) };
}

/** Freezing then says that there is no freezer. */
const NO_CGROUP: CgroupRecord = { version: 2, paths: [] };
