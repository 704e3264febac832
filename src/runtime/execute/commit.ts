/** The record of a container that is made: written while init still works, in force with `commit`, and amended by what is known later. */
import { type ContainerConfig, storeProcess } from "../config/index.ts";
import * as host from "../host/index.ts";
import { type ExecRecord, publishRecord, type StateRecord, stageRecord, writeRecord } from "../state/index.ts";
import type { Execution, Staged } from "./execution.ts";
import { replaceFile } from "./fresh-file.ts";
import { helperError } from "./helper-error.ts";
import { callerStreams } from "./streams.ts";

/** While init still works: the record is written beside the one in force, so that `commit` only has to rename it. */
export function stage(execution: Execution): void {
  const { made, running } = execution;
  const { pid } = running;
  const started = host.procStat(pid);
  if (!started) return;
  const { blueprint } = execution.asked;
  const record = blueprint ? { ...made.record, exec: execRecord(blueprint.config, blueprint.keyring) } : made.record;
  const streams = callerStreams(record.exec.process?.["terminal"]);
  made.record = { ...record, pid, startTime: String(started.startTime), ...(streams && { streams }) };
  write(execution);
}

export function commit(execution: Execution): void {
  const { asked, made } = execution;
  const { record, staged, warnings } = made;
  if (record.startTime === "0") throw helperError.died(execution);
  const { record: whole } = staged?.from === record && staged.warnings === warnings.length ? staged : write(execution);
  made.record = whole;
  publishRecord(asked.root, whole.id);
}

/** Warnings that came after the record was committed. */
export function recordLate({ asked: { root }, made }: Execution): void {
  const { record, staged, warnings } = made;
  if (!staged || staged.warnings === warnings.length) return;
  made.record = { ...record, warnings: [...record.warnings, ...warnings.slice(staged.warnings)] };
  made.staged = { ...staged, warnings: warnings.length };
  writeRecord(root, made.record);
}

function write({ asked: { root }, made }: Execution): Staged {
  const { record: from, warnings } = made;
  const record: StateRecord = { ...from, phase: "created", netDevices: undefined, warnings: [...from.warnings, ...warnings] };
  stageRecord(root, record);
  made.staged = { from, record, warnings: warnings.length };
  return made.staged;
}

/** What exec needs of a container's configuration, for the state record. */
export function execRecord(config: ContainerConfig, keyring: boolean): ExecRecord {
  const { process, namespaces, seccomp, memoryPolicy, personality } = config;
  const types: string[] = [];
  const joined: string[] = [];
  let ownMounts = false;
  for (const { type, path } of namespaces) {
    types.push(type);
    if (path !== undefined) joined.push(type);
    else ownMounts ||= type === "mount";
  }
  return {
    // Of a template start has to know what it starts when it is told nothing.
    ...(process && { process: config.template ? { ...storeProcess(process), args: process.args } : storeProcess(process) }),
    namespaces: types,
    ...(joined.length > 0 && { joined }),
    chroot: !ownMounts,
    keyring,
    ...(seccomp && { seccomp }),
    ...(memoryPolicy && { memoryPolicy }),
    ...(personality !== undefined && { personality }),
  };
}

/** The operations that tell others of the container's process. */
export function sendPidfd(pid: number, path: string, text: string): void {
  const pidfd = host.pidfdOpen(pid);
  host.sendDescriptor(path, text, pidfd);
  host.close(pidfd);
}

/**
 * No newline: go-runc parses strictly. Until it is whole the file has the pid behind its name, which is no other process's at this time.
 * @throws HostError
 */
export function writePidFile(path: string, pid: number): void {
  replaceFile(path, String(pid), { mode: 0o666, number: pid });
}
