/** Namespaces of other executors, held open: a pid that is given again meanwhile leads to no other process's. */
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
  close(): void;
}

/** @throws ExecutorError id-unknown; wrong-state, when the other one does not run; state-unreadable, protocol */
export function joinNamespaces(stateDir: string, { namespaces = {} }: LaunchCommand): Joined {
  const fds: number[] = [];
  const paths: Partial<Record<NamespaceType, string>> = {};
  const close = () => {
    for (const fd of fds.splice(0)) closeSync(fd);
  };
  try {
    for (const type of Object.keys(namespaces) as NamespaceType[]) {
      const mode = namespaces[type];
      if (typeof mode !== "object" || !("executor" in mode)) continue;
      const fd = openNamespace(new Directory(stateDir, mode.executor), type);
      fds.push(fd);
      paths[type] = `/proc/${process.pid}/fd/${fd}`;
    }
  } catch (error) {
    close();
    throw error;
  }
  return { paths, close };
}

function openNamespace(directory: Directory, type: NamespaceType): number {
  directory.description();
  const record = directory.exitRecord();
  const ended = (cause?: unknown) =>
    new ExecutorError("wrong-state", `namespaces.${type}: executor ${directory.id} does not run`, { field: `namespaces.${type}` }, cause);
  if (record?.pid === undefined || !isAlive(initOf(record))) throw ended();
  let fd: number;
  try {
    fd = openSync(`/proc/${record.pid}/ns/${FILES[type]}`, "r");
  } catch (error) {
    throw ended(error);
  }
  // It lives still: so the pid was its own when the namespace was opened.
  if (isAlive(initOf(record))) return fd;
  closeSync(fd);
  throw ended();
}
