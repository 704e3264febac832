/** Processes that outlive the launcher of a container: its monitor, and the log pump that the monitor has started. */
import type { ExitRecord } from "../../shared/protocol/index.ts";
import { Directory } from "../directory.ts";
import { idsIn } from "../list.ts";
import { readOwnFile } from "../own-file.ts";
import { isAlive, type ProcessIdentity } from "../process/procfs.ts";

/** Of one executor. What cannot be read has none: a monitor that has not told its container's pid yet is part of the launch. */
export function keepersOf(stateDir: string, id: string): ProcessIdentity[] {
  const { record: path } = new Directory(stateDir, id);
  const record = jsonOf<ExitRecord>(path);
  if (record?.pid === undefined || record.monitor === undefined) return [];
  const pump = jsonOf<ProcessIdentity>(`${path}.log`);
  const { bootId } = record;
  return [{ ...record.monitor, bootId }, ...(pump === undefined ? [] : [{ pid: pump.pid, startTicks: pump.startTicks, bootId }])].filter(
    isAlive,
  );
}

export function allKeepers(stateDir: string): ProcessIdentity[] {
  return idsIn(stateDir).flatMap((id) => keepersOf(stateDir, id));
}

function jsonOf<T extends object>(path: string): (Partial<T> & T) | undefined {
  try {
    const value: unknown = JSON.parse(readOwnFile(path).toString());
    return typeof value === "object" && value !== null ? (value as T) : undefined;
  } catch {
    return undefined;
  }
}
