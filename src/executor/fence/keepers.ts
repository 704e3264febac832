/** Processes that outlive the launcher of a container: its monitor, and the log pump that the monitor has started. */
import { Directory } from "../directory.ts";
import { idsIn } from "../list.ts";
import { readLogCounts } from "../log-counts.ts";
import { isAlive, type ProcessIdentity } from "../process/procfs.ts";
import { readRecord } from "../record.ts";

/** Of one executor. What cannot be read has none: a monitor that has not told its container's pid yet is part of the launch. */
export function keepersOf(stateDir: string, id: string): ProcessIdentity[] {
  const { record: path } = new Directory(stateDir, id);
  const record = orUndefined(() => readRecord(path, id));
  if (record?.pid === undefined) return [];
  const pump = orUndefined(() => readLogCounts(path));
  const { bootId } = record;
  return [{ ...record.monitor, bootId }, ...(pump === undefined ? [] : [{ pid: pump.pid, startTicks: pump.startTicks, bootId }])].filter(
    isAlive,
  );
}

export function allKeepers(stateDir: string): ProcessIdentity[] {
  return idsIn(stateDir).flatMap((id) => keepersOf(stateDir, id));
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}
