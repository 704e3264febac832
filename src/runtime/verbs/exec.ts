/** exec: a further process in a running container. In the foreground this process becomes the helper's monitor. */
import { monitorArguments } from "../../shared/protocol/index.ts";
import { driverOf } from "../cgroup/drivers/index.ts";
import { execJoin, isFrozen, readHierarchies } from "../cgroup/index.ts";
import type { ProcessConfig, Warning } from "../config/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import {
  type Execution,
  endBySignal,
  endChildren,
  endOrphans,
  execute,
  FROZEN_DEATH_MS,
  newExecution,
  openSizes,
  ownerOf,
  parseSize,
  pathOf,
  pidfdOf,
} from "../execute/index.ts";
import * as host from "../host/index.ts";
import { countListenFds, phase, separateDescriptors } from "../host/index.ts";
import { isolationOf } from "../isolation/index.ts";
import { compileExec, type ExecInput, type Plan } from "../plan/index.ts";
import {
  apparmorEnabled,
  defaultProcess,
  type ExecRequest,
  isDemanded,
  namespaceTypes,
  type RuntimeOptions,
  requestedProcess,
  requireOwnTerminal,
} from "../prepare/index.ts";
import { asStarted, type CgroupRecord, containerDirectory, deriveLife, readRecord, type StateRecord } from "../state/index.ts";

const PREFIX = "exec failed: ";

/** Returns once a detached program runs; in the foreground it never does. Every error says `exec failed`. */
export function exec(options: RuntimeOptions, request: ExecRequest, made?: (execution: Execution) => void): void {
  let execution: Execution;
  try {
    execution = begin(options, request);
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
    throw new RuntError(error.code, PREFIX + error.message, error.details);
  }
  made?.(execution);
  if (!request.detach) watch(execution);
}

function begin(options: RuntimeOptions, request: ExecRequest): Execution {
  const began = request.timeout ? host.monotonic() : 0;
  separateDescriptors(request.preserveFds);
  const record = asStarted(options.root, readRecord(options.root, request.id));
  checkStatus(options.root, record, request.ignorePaused);
  if (record.exec.unknown) {
    throw new RuntError("state-version", "the container was made by a runt that had no exec", { hint: "start it anew" });
  }
  phase?.("compile", "plan");
  const findings: Warning[] = [];
  const defaults = (): ProcessConfig => defaultProcess(record.exec);
  const process = isolationOf(record).furtherProcess(request, defaults, () => requestedProcess(request, defaults, findings));
  checkTerminal(process, request);
  const { timeout } = request;
  const plan = planOf(options, record, process, request);
  const patience = { movesOn: !request.ignorePaused, ...(timeout && { deadline: began + timeout.milliseconds, asked: timeout.text }) };
  const sizes = request.resizeFifo === undefined ? undefined : openSizes(request.resizeFifo);
  const execution = newExecution({ root: options.root, plan, patience, ...(sizes !== undefined && { sizes }) }, record);
  if (findings.length > 0) addFindings(execution, findings);
  endBySignal();
  phase?.("execute", "execute");
  try {
    execute(execution);
  } catch (error) {
    host.endWaitsBySignal(false);
    // Nothing of the container is touched: only what this call has started ends.
    endChildren(execution.running, staysFrozen(record) ? FROZEN_DEATH_MS : undefined);
    if (execution.running.helper !== 0 && execution.running.pid === 0) endOrphans(record.pid);
    throw error;
  }
  return execution;
}

/** False also where that cannot be known just now: what fails already does not fail otherwise. */
function staysFrozen({ cgroup }: StateRecord): boolean {
  try {
    return cgroup !== undefined && isFrozen(cgroup);
  } catch (error) {
    if (!(error instanceof Error && "errno" in error)) throw error;
    return false;
  }
}

function addFindings({ made: { warnings, demanded } }: Execution, findings: readonly Warning[]): void {
  warnings.push(...findings.map(({ message }) => message));
  demanded.push(...findings.filter(isDemanded).map(({ message }) => message));
}

function checkStatus(root: string, record: StateRecord, ignorePaused: boolean): void {
  const status = deriveLife(root, record);
  if (status === "stopped" || status === "creating") throw new RuntError("wrong-status", WORDS.execStopped);
  if (status === "paused" && !ignorePaused) throw new RuntError("wrong-status", WORDS.execPaused);
}

/** As for create: a detached terminal needs a console socket, to which its master is sent. */
function checkTerminal({ terminal }: ProcessConfig, { detach, consoleSocket, consoleSize, resizeFifo }: ExecRequest): void {
  if (terminal && detach && consoleSocket === undefined) throw new RuntError("usage", WORDS.consoleSocketMissing);
  if (consoleSocket !== undefined && !(terminal && detach)) throw new RuntError("usage", WORDS.consoleSocketUnused);
  if (consoleSize !== undefined && !terminal) throw new RuntError("usage", WORDS.sizeUnused);
  if (resizeFifo !== undefined) {
    // Its caller is the screen.
    if (!terminal || detach) throw new RuntError("usage", WORDS.resizeUnused);
  } else if (terminal && !detach) requireOwnTerminal("--tty");
}

function planOf(options: RuntimeOptions, record: StateRecord, process: ProcessConfig, request: ExecRequest): Plan {
  const { consoleSocket, pidFile, pidfdSocket, preserveFds } = request;
  const { consoleSize } = request;
  const ownSize = process.terminal && consoleSocket === undefined ? host.windowSize(0) : undefined;
  const terminalSize = consoleSize === undefined ? ownSize : parseSize(consoleSize);
  return compileExec({
    process,
    target: { pid: record.pid, startTime: BigInt(record.startTime) },
    namespaces: namespaceTypes(record.exec),
    root: record.exec.chroot ? record.rootfs : "/",
    ...(record.cgroup && { join: joinOf(options.root, record, record.cgroup, request.cgroups) }),
    keyring: record.exec.keyring,
    ...(record.exec.seccomp && { seccomp: record.exec.seccomp }),
    ...(record.exec.memoryPolicy && { memoryPolicy: record.exec.memoryPolicy }),
    ...(record.exec.personality !== undefined && { personality: record.exec.personality }),
    ...presentGroups(record),
    invocation: {
      id: record.id,
      preserveFds,
      listenFds: countListenFds(),
      ...(consoleSocket !== undefined && { consoleSocket }),
      ...(pidFile !== undefined && { pidFile }),
      ...(pidfdSocket !== undefined && { pidfdSocket }),
    },
    host: {
      ...(process.apparmorProfile !== undefined && { apparmor: apparmorEnabled() }),
      ...(host.geteuid() !== 0 && namespaceTypes(record.exec).includes("user") && { setgroups: setgroupsAllowed(record.pid) }),
      stateDirectory: containerDirectory(options.root, record.id),
      rootless: host.geteuid() !== 0,
      cgroupVersion: record.cgroup?.version ?? readHierarchies().version,
      ...(terminalSize && { terminalSize }),
    },
  });
}

/** Whoever has removed the group has put the container's processes into the default one. */
function presentGroups({ resctrl: groups }: StateRecord): Pick<ExecInput, "resctrl"> {
  return groups && host.stat(pathOf(groups)) ? { resctrl: groups } : {};
}

function joinOf(root: string, record: StateRecord, cgroup: CgroupRecord, wanted: readonly string[]): NonNullable<ExecInput["join"]> {
  return driverOf(cgroup).joinFor(cgroup, execJoin(cgroup, ownerOf(record, root), record.pid, wanted));
}

/** Denied for good before an unprivileged gid_map was written (user_namespaces(7)). */
function setgroupsAllowed(pid: number): boolean {
  return host.readFile(`/proc/${pid}/setgroups`, undefined, true).trim() === "allow";
}

function watch({ asked: { sizes = -1 }, running: { pid, console } }: Execution): never {
  const pidfd = pidfdOf(pid);
  return host.execHelper(
    monitorArguments({ init: pid, pidfd, console, sizes }, [], []),
    [pidfd, console, sizes].filter((fd) => fd !== -1),
  );
}
