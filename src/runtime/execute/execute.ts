/**
 * The runtime's half of a plan: its own operations in list order, the helper's between `helper.spawn` and `commit`.
 * Anything that throws here is undone by the caller from the state record.
 */
import { MESSAGES, OPS, type OpArgs, type OpName } from "../../shared/protocol/index.ts";
import { attachDeviceProgram, delegateCgroup, writeCgroupFile } from "../cgroup/index.ts";
import { attachToUnit } from "../cgroup/systemd/index.ts";
import { refusesUnknownCalls, refuseUnknownCalls } from "../config/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { operation, phase } from "../host/index.ts";
import type { Op } from "../plan/index.ts";
import { notifyListener, prepareFilter as prepare } from "../seccomp/index.ts";
import { keepConfig, reserve, rootDirectory, type StateRecord, writeRecord } from "../state/index.ts";
import { addMonitor, finishCgroups, joinGroup, makeCgroup, prepareGroups, startUnit } from "./cgroup-operations.ts";
import { commit, sendPidfd, writePidFile } from "./commit.ts";
import type { Asked, Blueprint, Execution } from "./execution.ts";
import { cancel, type HeadStart } from "./head-start/index.ts";
import { runPlannedHook } from "./hooks.ts";
import { verifyIdMaps, writeIdMaps, writeProc } from "./id-map-write.ts";
import { newRecord } from "./intent-record.ts";
import { endBySignal, interruption } from "./interrupted.ts";
import { moveNetDevice } from "./net-devices.ts";
import { prepareNotification } from "./notification.ts";
import { showProgress } from "./progress.ts";
import { awaitExecve, send, waitFor } from "./rendezvous.ts";
import { rollbackError } from "./rollback.ts";
import { bindRoot } from "./root-mount.ts";
import { spawn } from "./spawn.ts";

type RuntimeOp = {
  [K in OpName]: "runtime" extends (typeof OPS)[K]["actors"][number] ? K : never;
}[OpName];
type Handlers = { readonly [K in RuntimeOp]: (execution: Execution, args: OpArgs<K>, pointer: string) => void };

const HANDLERS: Handlers = {
  "state.intent": recordIntent,
  "fifo.create": (_, { path, mode }) => {
    host.mkfifo(path, mode);
    // mkfifo(2) is subject to the umask.
    host.chmod(path, mode);
  },
  "cgroup.create": makeCgroup,
  "cgroup.write": (_, { path, value }, pointer) => writeCgroupFile(path, value, pointer),
  "cgroup.devices": (_, { path, rules }) => attachDeviceProgram(path, rules),
  "cgroup.delegate": ({ made: { warnings } }, { path, uid }) => {
    const warning = delegateCgroup(path, uid);
    if (warning !== undefined) warnings.push(warning);
  },
  "systemd.startUnit": startUnit,
  "systemd.attach": ({ running: { pid } }, { path, ...unit }) => attachToUnit(unit, path, pid),
  "cgroup.attach": ({ running: { pid } }, { files }) => {
    for (const file of files) writeCgroupFile(file, String(pid));
  },
  "helper.spawn": spawn,
  "idmap.write": (execution, args) => writeIdMaps(execution.running.pid, args),
  "process.oomScoreAdj": ({ running: { pid } }, { value }) => writeProc(pid, "oom_score_adj", String(value)),
  "process.rlimit": ({ running: { pid } }, { resource, soft, hard }) => host.prlimit(pid, resource, soft, hard),
  "state.commit": commit,
  "pidfile.write": ({ running: { pid } }, { path }) => writePidFile(path, pid),
  "pidfd.send": ({ running: { pid } }, { path, text }) => sendPidfd(pid, path, text),
  "notify.prepare": (execution, args) => prepareNotification(execution, args),
  "sync.send": (execution, { message }) => send(execution, message),
  "sync.wait": waitFor,
  "sync.end": awaitExecve,
  "hook.run": runHookOperation,
  "seccomp.prepare": prepareFilter,
  "seccomp.send": sendFilter,
  "seccomp.notify": notify,
  "netdevice.move": (...call) => moveNetDevice(...call),
  "idmap.verify": ({ running: { pid } }, maps) => verifyIdMaps(pid, maps),
  "root.bind": (...call) => bindRoot(...call),
  "resctrl.prepare": (...call) => prepareGroups(...call),
  "resctrl.monitor": (...call) => addMonitor(...call),
  "resctrl.join": ({ running: { pid } }, group, pointer) => joinGroup(group, pid, pointer),
};

/** Skip freeing at exit: to free the execution object by object would be the last thing that a verb does. */
export let keepAlive: Execution | undefined;

/** `record`: of the container that exists; without one `state.intent` makes it from the blueprint. */
export function newExecution(asked: Asked, record = NO_RECORD): Execution {
  keepAlive = {
    asked,
    made: { record, lock: -1, hasDirectory: false, marked: false, unfinished: [], warnings: [], demanded: [] },
    running: { helper: 0, server: 0, pid: 0, socket: -1, early: [], console: -1, released: false },
  };
  return keepAlive;
}

const NO_RECORD = {} as StateRecord;

function recordIntent({ asked: { root, blueprint }, made }: Execution): void {
  // Up to here nothing is made that outlives this process.
  endBySignal();
  if (blueprint) made.record = newRecord(root, blueprint);
  made.lock = reserve(root, made.record.id);
  // The first container of a root makes it.
  if (!made.record.directory) made.record = { ...made.record, directory: rootDirectory(root)! };
  writeRecord(root, made.record);
  if (blueprint) keepConfig(root, made.record.id, blueprint.configText);
}

/** Execute every runtime operation. On return the container exists (create) or its program has been started (run). */
export function execute(execution: Execution): void {
  const { plan, progress } = execution.asked;
  const { ops } = plan;
  for (let index = host.findNext(ops, "actor", "runtime", 0); index >= 0; index = host.findNext(ops, "actor", "runtime", index + 1)) {
    const op = ops[index]!;
    progress?.enter(index, OPS[op.op].id);
    operation?.(plan, index);
    runHandler(execution, op);
  }
  host.close(execution.running.socket);
  operation?.(plan, ops.length);
}

/** Those of these names, for a container that is not made by init; `chosen` looks at the arguments. */
export function runOperations(execution: Execution, names: ReadonlySet<OpName>, chosen = (_: Op["args"]): boolean => true): void {
  for (const op of execution.asked.plan.ops) {
    if (op.actor === "runtime" && names.has(op.op) && chosen(op.args)) runHandler(execution, op);
  }
  finishCgroups(execution);
}

function runHandler(execution: Execution, op: Op): void {
  if (execution.made.unfinished.length > 0 && op.op !== "cgroup.create") finishCgroups(execution);
  const handler = HANDLERS[op.op as RuntimeOp] as (execution: Execution, args: Op["args"], pointer: string) => void;
  try {
    handler(execution, op.args, op.from);
  } catch (error) {
    if (error instanceof RuntError || !(error instanceof Error) || !("errno" in error)) throw error;
    if (host.endingSignal() !== 0) throw interruption(error) ?? error;
    const { path } = error as host.HostError;
    const doing = op.op === "seccomp.notify" ? "seccomp.notify: failed to connect with seccomp agent" : op.op;
    throw new RuntError("operation", `${doing}${path ? ` ${path}` : ""}: ${host.reason(error)}`, { pointer: op.from, cause: error });
  }
}

function runHookOperation({ made: { lock }, running: { pid } }: Execution, args: OpArgs<"hook.run">): void {
  // The container runs by then, and a hook may use any verb on it.
  if (args.kind === "poststart") host.flock(lock, host.LOCK.UN);
  runPlannedHook(args, pid);
}

/** The operations of the system call filter. */
function prepareFilter({ asked: { root }, made: { record, warnings } }: Execution, args: OpArgs<"seccomp.prepare">): void {
  const unknown = prepare(root, args);
  if (unknown.length === 0) return;
  if (refusesUnknownCalls(record.annotations)) refuseUnknownCalls(unknown.join(", "));
  warnings.push(`linux.seccomp: unknown system calls are ignored: ${unknown.join(", ")}`);
}

function sendFilter(execution: Execution, { path }: OpArgs<"seccomp.send">): void {
  const fd = host.open(path, host.O.RDONLY | host.O.NOFOLLOW);
  send(execution, MESSAGES.filter, fd);
  host.close(fd);
}

function notify({ made: { record }, running }: Execution, { path, metadata }: OpArgs<"seccomp.notify">): void {
  const { listener, pid } = running;
  if (listener === undefined) throw new RuntError("operation", "seccomp.notify: init sent no listener");
  const { ociVersion, id, bundle, annotations } = record;
  const creating = record.phase === "creating";
  const status = creating ? "creating" : "running";
  notifyListener(path, metadata, listener, { ociVersion, id, bundle, annotations, status, pid, containerPid: creating ? pid : record.pid });
  host.close(listener);
  delete running.listener;
}

/**
 * @param headStart is adopted or ended
 * @param monitored this process is to become the container's monitor
 * @throws RuntError; then nothing is left
 */
export function newContainer(
  root: string,
  blueprint: Blueprint,
  headStart: HeadStart,
  monitored?: NonNullable<Asked["monitored"]>,
): Execution {
  const progress = headStart.progress ?? showProgress();
  const execution = newExecution({ root, plan: blueprint.plan, blueprint, headStart, progress, ...(monitored && { monitored }) });
  if (blueprint.demanded.length > 0) execution.made.demanded.push(...blueprint.demanded);
  phase?.("execute", "execute");
  try {
    execute(execution);
  } catch (error) {
    phase?.("undo", "execute");
    cancel(headStart);
    throw rollbackError(execution, blueprint.id, error);
  }
  return execution;
}
