/**
 * Namespaces of other executors, held open: a pid that is given again meanwhile leads to no other process's. Those of a sandbox are named by its process, because that is
 * what `runt` looks for. Whether it was its process all the time is looked at when the container is made.
 */
import { closeSync, openSync } from "node:fs";
import { Directory } from "../directory.ts";
import { ExecutorError } from "../errors.ts";
import { isAlive } from "../process/procfs.ts";
import type { NamespaceType } from "../profile.ts";
import { initOf } from "../record.ts";
import type { LaunchCommand } from "./command.ts";

/** Names below /proc/PID/ns (namespaces(7)). */
const FILES: Readonly<Record<NamespaceType, string>> = {
  mount: "mnt",
  pid: "pid",
  ipc: "ipc",
  uts: "uts",
  network: "net",
  cgroup: "cgroup",
};

export interface Joined {
  /** Of this process's descriptors: good until close. */
  readonly paths: Readonly<Partial<Record<NamespaceType, string>>>;
  /** @throws ExecutorError wrong-state: the sandbox has ended, so that its pid may be another process's by now */
  check(): void;
  close(): void;
}

/** @throws ExecutorError id-unknown; wrong-state, when the other one does not run; state-unreadable, protocol */
export function joinNamespaces(stateDir: string, { namespaces = {}, sandbox }: LaunchCommand): Joined {
  const fds: number[] = [];
  const checks: (() => void)[] = [];
  const paths: Partial<Record<NamespaceType, string>> = {};
  const close = () => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    for (const type of Object.keys(namespaces) as NamespaceType[]) {
      const mode = namespaces[type];
      if (typeof mode !== "object" || !("executor" in mode)) continue;
      const directory = new Directory(stateDir, mode.executor);
      if (mode.executor === sandbox) {
        const check = () => processOf(directory, type);
        paths[type] = `/proc/${check()}/ns/${FILES[type]}`;
        checks.push(check);
        continue;
      }
      const fd = openNamespace(directory, type);
      fds.push(fd);
      paths[type] = `/proc/${process.pid}/fd/${fd}`;
    }
  } catch (error) {
    close();
    throw error;
  }
  const check = () => {
    for (const one of checks) one();
  };
  return { paths, check, close };
}

/** Pid of the executor's first process, which lives. @throws ExecutorError wrong-state; state-unreadable, protocol */
function processOf(directory: Directory, type: NamespaceType): number {
  directory.description();
  const record = directory.exitRecord();
  if (record?.pid === undefined || !isAlive(initOf(record))) throw ended(directory, type);
  return record.pid;
}

function openNamespace(directory: Directory, type: NamespaceType): number {
  const pid = processOf(directory, type);
  let fd: number;
  try {
    fd = openSync(`/proc/${pid}/ns/${FILES[type]}`, "r");
  } catch (error) {
    throw ended(directory, type, error);
  }
  try {
    // It lives still: so the pid was its own when the namespace was opened.
    processOf(directory, type);
    return fd;
  } catch (error) {
    closeSync(fd);
    throw error;
  }
}

function ended({ id }: Directory, type: NamespaceType, cause?: unknown): ExecutorError {
  return new ExecutorError("wrong-state", `namespaces.${type}: executor ${id} does not run`, { field: `namespaces.${type}` }, cause);
}
