/** The record of a container that is made: written while init still works, in force with `commit`, and amended by what is known later. */
import * as host from "../host/index.ts";
import { publishRecord, type StateRecord, stageRecord, writeRecord } from "../state/index.ts";
import { execRecord } from "./exec-record.ts";
import type { Execution, Staged } from "./execution.ts";
import { helperError } from "./helper-error.ts";
import { callerStreams } from "./streams.ts";

/** While init still works: the record is written beside the one in force, so that `commit` only has to rename it. */
export function stage(execution: Execution): void {
  const started = host.procStat(execution.pid);
  if (!started) return;
  const { blueprint, pid } = execution;
  const record = blueprint ? { ...execution.record, exec: execRecord(blueprint.config, blueprint.keyring) } : execution.record;
  const streams = callerStreams(record.exec.process?.["terminal"]);
  execution.record = { ...record, pid, startTime: String(started.startTime), ...(streams && { streams }) };
  write(execution);
}

export function commit(execution: Execution): void {
  if (execution.record.startTime === "0") throw helperError.died(execution);
  const { record, staged, warnings } = execution;
  const { record: whole } = staged?.from === record && staged.warnings === warnings.length ? staged : write(execution);
  execution.record = whole;
  publishRecord(execution.root, whole.id);
}

/** Warnings that came after the record was committed. */
export function recordLate(execution: Execution): void {
  const { root, record, staged, warnings } = execution;
  if (!staged || staged.warnings === warnings.length) return;
  execution.record = { ...record, warnings: [...record.warnings, ...warnings.slice(staged.warnings)] };
  execution.staged = { ...staged, warnings: warnings.length };
  writeRecord(root, execution.record);
}

function write(execution: Execution): Staged {
  const { record: from, root, warnings } = execution;
  const record: StateRecord = { ...from, phase: "created", netDevices: undefined, warnings: [...from.warnings, ...warnings] };
  stageRecord(root, record);
  execution.staged = { from, record, warnings: warnings.length };
  return execution.staged;
}
