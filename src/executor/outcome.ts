/** Exit record -> the state of the process. Pure. */
import { SIGNALS } from "../shared/linux/index.ts";
import type { ExitRecord } from "../shared/protocol/index.ts";
import type { ProcessState } from "./types.ts";

/** While it runs. */
export function runningState(record: ExitRecord): ProcessState {
  return {
    pid: record.pid ?? 0,
    startTicks: record.startTicks ?? "0",
    exitCode: null,
    signal: null,
    oomKilled: false,
    oomKills: 0,
    unknown: false,
    startedMs: record.startedMs ?? 0,
    endedMs: null,
  };
}

/** When nothing of it is left. Without an outcome in the record nobody knows, which is never success. */
export function finalState(record: ExitRecord | undefined): ProcessState {
  const begun = runningState(record ?? ({} as ExitRecord));
  const { code = null, signal = null, oomKills = 0, endedMs = null } = record ?? {};
  if (code === null) {
    const error = record === undefined ? "the exit record was removed" : "the monitor ended before the container";
    return { ...begun, unknown: true, error, oomKills, endedMs };
  }
  return { ...begun, exitCode: code, signal, oomKills, oomKilled: oomKills > 0 && signal === SIGNALS.KILL, endedMs };
}
