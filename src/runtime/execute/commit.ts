/** The record of a container that is made: written while init still works, in force with `commit`, and amended by what is known later. */
import { type ContainerConfig, storeProcess } from "../config/index.ts";
import * as host from "../host/index.ts";
import { type ExecRecord, publishRecord, type StateRecord, stageRecord, writeRecord } from "../state/index.ts";
import { defenceDisabled } from "../testing/index.ts";
import type { Execution, Staged } from "./execution.ts";
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

/** Temp file and rename, so that a reader never sees half a number; no newline (go-runc parses strictly). */
export function writePidFile(path: string, pid: number): void {
  const slash = path.lastIndexOf("/") + 1;
  const temporary = `${path.slice(0, slash)}.${path.slice(slash)}`;
  const flags = host.O.WRONLY | host.O.CREAT | (defenceDisabled("pid-file") ? 0 : host.O.EXCL | host.O.NOFOLLOW);
  for (let isFirst = true; ; isFirst = false) {
    try {
      host.writeFile(temporary, String(pid), flags, 0o666);
      host.rename(temporary, path);
      return;
    } catch (error) {
      host.unlink(temporary);
      // A runtime that was killed here has left it.
      if (!isFirst || !host.isErrno(error, "EEXIST")) throw error;
    }
  }
}
