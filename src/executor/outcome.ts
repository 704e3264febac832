/** Exit record -> the state of the process. */
import { SIGNALS } from "../shared/linux/index.ts";
import type { ExitRecord } from "../shared/protocol/index.ts";
import { isOfAnotherBoot } from "./process/procfs.ts";
import type { ProcessState, UnknownCause } from "./types.ts";

const WORDS: Readonly<Record<UnknownCause, string>> = {
  "record-removed": "the exit record was removed",
  "monitor-killed": "the monitor ended before the container",
  "host-rebooted": "the host was booted again before the container had ended",
};

/** While it runs. */
export function runningState(record: ExitRecord): ProcessState {
  return {
    pid: record.pid ?? 0,
    startTicks: record.startTicks ?? "0",
    ...(record.bootId === undefined ? {} : { bootId: record.bootId }),
    exitCode: null,
    signal: null,
    oomKilled: false,
    oomKills: 0,
    unknown: false,
    startedMs: record.startedMs ?? 0,
    endedMs: null,
  };
}

/** The end, when nothing of the container is left. Without an outcome in the record it is unknown, which is never success. */
export function finalState(record: ExitRecord | undefined): ProcessState {
  const begun = runningState(record ?? ({} as ExitRecord));
  const { code = null, signal = null, oomKills = 0, endedMs = null } = record ?? {};
  if (code === null) {
    const unknownCause = causeOf(record);
    return { ...begun, unknown: true, unknownCause, error: WORDS[unknownCause], oomKills, endedMs };
  }
  return { ...begun, exitCode: code, signal, oomKills, oomKilled: oomKills > 0 && signal === SIGNALS.KILL, endedMs };
}

function causeOf(record: ExitRecord | undefined): UnknownCause {
  if (record === undefined) return "record-removed";
  return isOfAnotherBoot(record.bootId) ? "host-rebooted" : "monitor-killed";
}
