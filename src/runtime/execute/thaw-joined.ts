/** The end of a machine on cgroup v1, where containers of its pod are paused. Loaded only for a container in a machine. */
import { isFrozen, thawForKill } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import { type EndRequest, fromEntries } from "../machine/sides/index.ts";
import { listIds, readRecord, type StateRecord, type StateSummary } from "../state/index.ts";
import { ownerOf } from "./owner.ts";

/**
 * The monitor of a machine that was killed ends after all processes of its pid namespace: those of containers that have joined are among them, and on
 * cgroup v1 one that is frozen takes no signal.
 */
export function thawJoined(root: string, sandbox: StateSummary): void {
  if (sandbox.cgroup?.version !== 1) return;
  for (const id of listIds(root)) {
    const record = recordOf(root, id);
    if (record?.cgroup && hasJoined(record, sandbox) && isFrozen(record.cgroup)) thawForKill(record.cgroup, ownerOf(record, root));
  }
}

/** undefined: it has just been removed, or is being made. */
function recordOf(root: string, id: string): StateRecord | undefined {
  try {
    return readRecord(root, id);
  } catch (error) {
    if (error instanceof RuntError) return undefined;
    throw error;
  }
}

/** Its last hook says which machine it leaves. */
function hasJoined({ hooks }: StateRecord, { pid, startTime }: StateSummary): boolean {
  return (hooks?.poststop ?? []).some(({ args, env }) => {
    if (args[1] !== "machine-leave") return false;
    const { joined } = fromEntries(env ?? []) as EndRequest;
    return joined?.pid === pid && joined.startTime === startTime;
  });
}
