/** A container is made for an executor; after a failure nothing of it is left. */
import type { Container } from "./container.ts";
import type { Description, Directory } from "./directory.ts";
import { aborted, ExecutorError } from "./errors.ts";
import { processIn, rootfsOf } from "./launch/bundle.ts";
import { isSlice } from "./launch/cgroup-place.ts";
import { checkCommand } from "./launch/check.ts";
import type { LaunchCommand, OciProcess } from "./launch/command.ts";
import { type OciConfig, toConfig } from "./launch/config.ts";
import { launchError } from "./launch/failure.ts";
import { joinNamespaces } from "./launch/join.ts";
import { hostRights } from "./launch/privileged.ts";
import { takeFifos } from "./launch/spare-fifos.ts";
import { fifosOf, type OpenStdio, openStdio, pipePath, pipesOf, sizePath } from "./launch/stdio.ts";
import { findUser } from "./launch/user.ts";
import { runningState } from "./outcome.ts";
import { cgroupVersion } from "./process/cgroups.ts";
import { maskedProcessors } from "./profile.ts";
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
  const user = findUser(rootfsOf(command), "cmd" in command ? (command.user ?? "0") : "0:0");
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
    takeFifos(directory.stateDir, [...fifosOf(command).map((name) => pipePath(path, name)), ...(command.pty ? [sizePath(path)] : [])]),
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
    const log = command.stdio?.log && { outputLog: command.stdio.log };
    const manager = isSlice(command.cgroupParent ?? "") ? { cgroupManager: "systemd" as const } : {};
    const own = { bundle: path, exitRecord: record, stdio: stdio.container };
    await runtime[verb](id, { ...own, ...resize, ...log, ...manager, ...(abort ? { abort } : {}) });
    check();
    const written = directory.exitRecord();
    if (written?.pid === undefined) throw new ExecutorError("launch-failed", "runt left no exit record");
    return { description, process: runningState(written), stdio };
  } catch (error) {
    stdio.close(true);
    throw error;
  }
}
