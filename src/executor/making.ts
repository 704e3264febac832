/** A container is made for an executor; after a failure nothing of it is left. */

import { closeSync, openSync } from "node:fs";
import { NAMESPACE_FILES } from "../shared/linux/index.ts";
import type { Container } from "./container.ts";
import { type Description, Directory } from "./directory.ts";
import { aborted, ExecutorError, launchError } from "./errors.ts";
import { processIn, rootfsOf } from "./launch/bundle.ts";
import { isSlice } from "./launch/cgroup-place.ts";
import { checkCommand } from "./launch/check.ts";
import type { LaunchCommand, OciProcess } from "./launch/command.ts";
import { type OciConfig, toConfig } from "./launch/config.ts";
import { takeFifos } from "./launch/fifos.ts";
import { hostRights } from "./launch/privileged.ts";
import { deadlinePath, fifosOf, hasDeadline, type OpenStdio, openStdio, pipePath, pipesOf, sizePath } from "./launch/stdio.ts";
import { findGroups, findUser } from "./launch/user.ts";
import { cgroupVersion } from "./process/cgroups.ts";
import { isAlive } from "./process/procfs.ts";
import { maskedProcessors, type NamespaceType } from "./profile.ts";
import { initOf, runningState } from "./record.ts";
import type { ProcessState } from "./types.ts";

export interface Made {
  readonly description: Description;
  readonly process: ProcessState;
  /** Still open: if the container has ended already, no other process may hold its output. */
  readonly stdio: OpenStdio;
}

export interface Preparation {
  readonly config: OciConfig;
  /** To be called when the container is made. @throws ExecutorError wrong-state: what it has joined may be another one's */
  check(): void;
  /** To be called when the container is made, or will not be. */
  close(): void;
}

/** Changes nothing. @throws ExecutorError invalid-argument, user-unknown; of an executor whose namespaces are joined id-unknown, wrong-state */
export function prepare({ id, stateDir }: Directory, command: LaunchCommand): Preparation {
  checkCommand(command);
  const { user: name = "0", additionalGroups: groups = [] } = "cmd" in command ? command : { user: "0:0" };
  const user = { ...findUser(rootfsOf(command), name), namedGids: findGroups(rootfsOf(command), groups) };
  const { paths: joined, check, close } = joinNamespaces(stateDir, command);
  const host = "privileged" in command && command.privileged ? { host: hostRights() } : {};
  return {
    config: toConfig(command, { id, user, cgroupVersion: cgroupVersion(), joined, maskedProcessors: maskedProcessors(), ...host }),
    check,
    close,
  };
}

export function programOf(command: LaunchCommand): string {
  return "cmd" in command ? command.cmd : (processIn(command) as OciProcess).args[0]!;
}

/**
 * With `runt create`, where init waits for start, or with `runt run`. A launch that fails leaves nothing.
 * @throws ExecutorError id-exists, launch-failed, aborted, stuck; ProgramError
 */
export async function makeContainer(
  container: Container,
  command: LaunchCommand,
  { config, check }: Preparation,
  verb: "create" | "run",
  abort?: AbortSignal,
): Promise<Made> {
  const { directory } = container;
  const pipes = pipesOf(command);
  await directory.make(rootfsOf(command), pipes, config, (path) =>
    takeFifos(directory.stateDir, [
      ...fifosOf(command).map((name) => pipePath(path, name)),
      ...(command.pty ? [sizePath(path)] : []),
      ...(hasDeadline(command) ? [deadlinePath(path)] : []),
    ]),
  );
  try {
    return await make(container, command, verb, check, abort);
  } catch (error) {
    await container.undo();
    throw abort?.aborted ? aborted(`the launch of ${directory.id}`, abort) : launchError(error);
  }
}

async function make(
  { directory, runtime }: Container,
  command: LaunchCommand,
  verb: "create" | "run",
  check: () => void,
  abort: AbortSignal | undefined,
): Promise<Made> {
  const description = directory.description();
  const stdio = openStdio(directory.path, command);
  try {
    const { id, path, record } = directory;
    const resize = command.pty ? { resizeFifo: sizePath(path) } : {};
    const deadline = hasDeadline(command) ? { deadlineFifo: deadlinePath(path) } : {};
    const log = command.stdio?.log && { outputLog: command.stdio.log };
    const { cgroupParent = "" } = command;
    const manager =
      cgroupParent === null ? { cgroupManager: "disabled" as const } : isSlice(cgroupParent) ? { cgroupManager: "systemd" as const } : {};
    const own = { bundle: path, exitRecord: record, stdio: stdio.container };
    await runtime[verb](id, { ...own, ...resize, ...deadline, ...log, ...manager, ...(abort ? { abort } : {}) });
    check();
    const written = directory.exitRecord();
    if (written?.pid === undefined) throw new ExecutorError("launch-failed", "runt left no exit record");
    return { description, process: runningState(written), stdio };
  } catch (error) {
    stdio.close(true);
    throw error;
  }
}

/**
 * Namespaces of other executors, held open: a pid that is given again meanwhile leads to no other process's. Those of a sandbox are named by its process, because that is
 * what `runt` looks for. Whether it was its process all the time is looked at when the container is made.
 */

interface Joined {
  /** Of this process's descriptors: good until close. */
  readonly paths: Readonly<Partial<Record<NamespaceType, string>>>;
  /** @throws ExecutorError wrong-state: the sandbox has ended, so that its pid may be another process's by now */
  check(): void;
  close(): void;
}

/** @throws ExecutorError id-unknown; wrong-state, when the other one does not run; state-unreadable, protocol */
function joinNamespaces(stateDir: string, { namespaces = {}, sandbox }: LaunchCommand): Joined {
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
        paths[type] = `/proc/${check()}/ns/${NAMESPACE_FILES[type]}`;
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
    fd = openSync(`/proc/${pid}/ns/${NAMESPACE_FILES[type]}`, "r");
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
