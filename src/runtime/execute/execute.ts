/**
 * The runtime's half of a plan: its own operations in list order, the helper's between `helper.spawn` and `commit`.
 * Anything that throws here is undone by the caller from the state record.
 */

import { HELPER_ACTORS, MESSAGES, OPS, type OpArgs, type OpName, PLAN_MAGIC } from "../../shared/protocol/index.ts";
import { attachDeviceProgram, createCgroup, delegateCgroup, markContainer, writeCgroupFile } from "../cgroup/index.ts";
import { refusesUnknownCalls, refuseUnknownCalls } from "../config/unknown-calls.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { weakened } from "../host/testing.ts";
import { operation } from "../host/tracing.ts";
import { type Op, type Plan, SHAPES } from "../plan/index.ts";
import { notifyListener, prepareFilter } from "../seccomp/index.ts";
import { keepConfig, reserve, type StateRecord, writeRecord } from "../state/index.ts";
import { commit, recordLate, stage } from "./commit.ts";
import { endBySignal } from "./end-by-signal.ts";
import type { Execution } from "./execution.ts";
import { handOver } from "./head-start.ts";
import { runPlannedHook } from "./hooks.ts";
import { verifyIdMaps } from "./id-map-verify.ts";
import { writeIdMaps, writeProc } from "./id-map-write.ts";
import { helperWarning, netDevices, notification, resctrl, rootMount, systemd } from "./on-demand.ts";
import { helperError, interrupted, slow } from "./on-failure.ts";
import { PLAN_NAME } from "./progress.ts";

type RuntimeOp = {
  [K in OpName]: "runtime" extends (typeof OPS)[K]["actors"][number] ? K : never;
}[OpName];
type Handlers = { readonly [K in RuntimeOp]: (execution: Execution, args: OpArgs<K>, pointer: string) => void };

const HANDLERS: Handlers = {
  "state.intent": (execution) => {
    // Up to here nothing is made that outlives this process.
    endBySignal();
    if (execution.intent) execution.record = execution.intent();
    execution.lock = reserve(execution.root, execution.record.id);
    writeRecord(execution.root, execution.record);
    if (execution.configText !== undefined) keepConfig(execution.root, execution.record.id, execution.configText);
  },
  "fifo.create": (_, { path, mode }) => {
    host.mkfifo(path, mode);
    // mkfifo(2) is subject to the umask.
    host.chmod(path, mode);
  },
  "cgroup.create": makeCgroup,
  "cgroup.write": (_, { path, value }, pointer) => writeCgroupFile(path, value, pointer),
  "cgroup.devices": (_, { path, rules }) => attachDeviceProgram(path, rules),
  "cgroup.delegate": ({ warnings }, { path, uid }) => {
    const warning = delegateCgroup(path, uid);
    if (warning !== undefined) warnings.push(warning);
  },
  "systemd.startUnit": startUnit,
  "systemd.attach": ({ pid }, { path, ...unit }) => systemd().attachToUnit(unit, path, pid),
  "cgroup.attach": ({ pid }, { files }) => {
    for (const file of files) writeCgroupFile(file, String(pid));
  },
  "helper.spawn": spawn,
  "idmap.write": (execution, args) => writeIdMaps(execution.pid, args),
  "process.oomScoreAdj": ({ pid }, { value }) => writeProc(pid, "oom_score_adj", String(value)),
  "process.rlimit": ({ pid }, { resource, soft, hard }) => host.prlimit(pid, resource, soft, hard),
  "state.commit": commit,
  "pidfile.write": ({ pid }, { path }) => writePidFile(path, pid),
  "pidfd.send": ({ pid }, { path, text }) => sendPidfd(pid, path, text),
  "notify.prepare": (execution, args) => notification().prepareNotification(execution, args),
  "sync.send": (execution, { message }) => send(execution, message),
  "sync.wait": waitFor,
  "sync.end": awaitExecve,
  "hook.run": runHookOperation,
  "seccomp.prepare": prepareSeccomp,
  "seccomp.send": sendFilter,
  "seccomp.notify": notify,
  "netdevice.move": (...call) => netDevices().moveNetDevice(...call),
  "idmap.verify": ({ pid }, maps) => verifyIdMaps(pid, maps),
  "root.bind": (...call) => rootMount().bindRoot(...call),
  "resctrl.prepare": (...call) => resctrl().prepareGroups(...call),
  "resctrl.monitor": (...call) => resctrl().addMonitor(...call),
  "resctrl.join": ({ pid }, group, pointer) => resctrl().joinGroup(group, pid, pointer),
};

/** Held until the process ends: to take it apart object by object would be the last thing that a verb does. */
export let held: Execution | undefined;

export function newExecution(root: string, plan: Plan, record: StateRecord | (() => StateRecord)): Execution {
  const begun = typeof record === "function" ? { intent: record, record: NO_RECORD } : { record };
  held = {
    root,
    plan,
    ...begun,
    lock: -1,
    helper: 0,
    server: 0,
    socket: -1,
    pid: 0,
    console: -1,
    early: [],
    warnings: [],
    demanded: [],
    unfinished: [],
  };
  return held;
}

const NO_RECORD = {} as StateRecord;

/** Execute every runtime operation. On return the container exists (create) or its program has been started (run). */
export function execute(execution: Execution): void {
  const { ops } = execution.plan;
  for (let index = host.findNext(ops, "actor", "runtime", 0); index >= 0; index = host.findNext(ops, "actor", "runtime", index + 1)) {
    const op = ops[index]!;
    execution.progress?.enter(index, OPS[op.op].id);
    operation?.(execution.plan, index);
    runHandler(execution, op);
  }
  host.close(execution.socket);
  operation?.(execution.plan, ops.length);
}

/** Those of these names, for a container that is not made by init; `chosen` looks at the arguments. */
export function runOperations(execution: Execution, names: ReadonlySet<OpName>, chosen = (_: Op["args"]): boolean => true): void {
  for (const op of execution.plan.ops) {
    if (op.actor === "runtime" && names.has(op.op) && chosen(op.args)) runHandler(execution, op);
  }
  finishCgroups(execution);
}

/** init binds a cgroup as soon as it is there: all of them are made before what only a process that joins needs. */
function finishCgroups({ unfinished }: Execution): void {
  for (const rest of unfinished.splice(0)) rest();
}

function runHandler(execution: Execution, op: Op): void {
  if (execution.unfinished.length > 0 && op.op !== "cgroup.create") finishCgroups(execution);
  const handler = HANDLERS[op.op as RuntimeOp] as (execution: Execution, args: Op["args"], pointer: string) => void;
  try {
    handler(execution, op.args, op.from);
  } catch (error) {
    if (error instanceof RuntError || !(error instanceof Error) || !("errno" in error)) throw error;
    if (host.endingSignal() !== 0) throw interrupted().interruption(error) ?? error;
    const { path } = error as host.HostError;
    const doing = op.op === "seccomp.notify" ? "seccomp.notify: failed to connect with seccomp agent" : op.op;
    throw new RuntError("operation", `${doing}${path ? ` ${path}` : ""}: ${host.reason(error)}`, { pointer: op.from, cause: error });
  }
}

/**
 * The first directory that is the container's own says whose it is: `runt gc` finds it when the record is lost, and nobody is killed in one that does
 * not say it. One that was not there when it was looked for, and is now, is somebody else's. (Those of a unit systemd has made for it.)
 */
function makeCgroup(execution: Execution, { path }: OpArgs<"cgroup.create">): void {
  const isNew = createCgroup(path, (rest) => execution.unfinished.push(rest));
  execution.progress?.cgroup();
  const { root, record } = execution;
  const { kept, systemd: unit } = record.cgroup ?? {};
  if (kept?.includes(path)) return;
  if (!isNew && !unit && record.cgroup) {
    execution.record = { ...record, cgroup: { ...record.cgroup, kept: [...(kept ?? []), path] } };
    return;
  }
  if (execution.marked) return;
  markContainer(path, { root, id: record.id, ...(kept && { kept }), ...(unit && { unit: unit.unit }) });
  execution.marked = true;
}

function startUnit(execution: Execution, { properties, withInit, ...unit }: OpArgs<"systemd.startUnit">): void {
  const { startUnit: start, UnitExists } = systemd();
  try {
    start(unit, properties, withInit ? execution.pid : undefined);
  } catch (error) {
    if (error instanceof UnitExists) disown(execution);
    throw error;
  }
}

/** The cgroup is somebody else's: undoing must not touch it. */
function disown(execution: Execution): void {
  const { cgroup: _, ...rest } = execution.record;
  execution.record = rest;
  writeRecord(execution.root, rest);
}

function spawn(execution: Execution, args: OpArgs<"helper.spawn">): void {
  const { version, slots, ops } = execution.plan;
  const plan = host.memfd(PLAN_NAME, host.packPlan(PLAN_MAGIC, version, slots, SHAPES, HELPER_ACTORS, ops));
  const environment = inheritsEnvironment(ops);
  const { ahead } = execution;
  delete execution.ahead;
  if (ahead && handOver(ahead, execution.plan, plan, args, environment)) {
    execution.socket = ahead.socket;
    execution.helper = ahead.pid;
  } else spawnNow(execution, args, plan, environment);
  execution.progress?.helper(execution.helper);
  // `inspect` reads it there, for as long as this process lives.
  if (!execution.progress) host.close(plan);
}

function spawnNow(execution: Execution, { cgroup }: OpArgs<"helper.spawn">, plan: number, environment: boolean): void {
  const [ours, theirs] = host.socketpair();
  execution.socket = ours;
  const directory = cgroup === "" ? undefined : host.open(cgroup, host.O.PATH | host.O.DIRECTORY);
  const fds = [theirs, plan, ...(execution.progress ? [execution.progress.fd] : [])];
  execution.helper = host.spawnHelper(["plan", ...fds.map(String)], fds, directory, environment);
  if (directory !== undefined) host.close(directory);
  host.close(theirs);
}

/** What init is to hand on to a hook that has no environment of its own. */
function inheritsEnvironment(ops: readonly Op[]): boolean {
  for (let at = host.findNext(ops, "op", "hook.run", 0); at >= 0; at = host.findNext(ops, "op", "hook.run", at + 1)) {
    const { actor, args } = ops[at]!;
    if (actor === "init" && (args as OpArgs<"hook.run">).inheritEnv) return true;
  }
  return false;
}

function runHookOperation({ lock, pid }: Execution, args: OpArgs<"hook.run">): void {
  // The container runs by then, and a hook may use any verb on it.
  if (args.kind === "poststart") host.flock(lock, host.LOCK.UN);
  runPlannedHook(args, pid);
}

function prepareSeccomp({ root, record, warnings }: Execution, args: OpArgs<"seccomp.prepare">): void {
  const unknown = prepareFilter(root, args);
  if (unknown.length === 0) return;
  if (refusesUnknownCalls(record.annotations)) refuseUnknownCalls(unknown.join(", "));
  warnings.push(`linux.seccomp: unknown system calls are ignored: ${unknown.join(", ")}`);
}

function sendFilter(execution: Execution, { path }: OpArgs<"seccomp.send">): void {
  const fd = host.open(path, host.O.RDONLY | host.O.NOFOLLOW);
  send(execution, MESSAGES.filter, fd);
  host.close(fd);
}

function notify(execution: Execution, { path, metadata }: OpArgs<"seccomp.notify">): void {
  const { listener, pid, record } = execution;
  if (listener === undefined) throw new RuntError("operation", "seccomp.notify: init sent no listener");
  const { ociVersion, id, bundle, annotations } = record;
  const creating = record.phase === "creating";
  const status = creating ? "creating" : "running";
  notifyListener(path, metadata, listener, { ociVersion, id, bundle, annotations, status, pid, containerPid: creating ? pid : record.pid });
  host.close(listener);
  delete execution.listener;
}

function send(execution: Execution, message: number, descriptor?: number): void {
  try {
    host.sendMessage(execution.socket, message, descriptor, execution.progress?.page);
  } catch (error) {
    if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
    // init has ended; its last words say why.
    take(execution, MESSAGES.error);
  }
}

function waitFor(execution: Execution, { message }: OpArgs<"sync.wait">): void {
  if (message === MESSAGES.ready && execution.record.phase === "creating") stage(execution);
  const received = take(execution, message);
  if (message === MESSAGES.ready && execution.server > 0) {
    host.waitpid(execution.server, 0);
    execution.server = 0;
  }
  if (message === MESSAGES.pid) {
    execution.pid = received.value;
    execution.progress?.init(execution.pid);
    // outer has nothing more to do, or will not when init is ready; it must be gone before create returns.
    if (host.findNext(execution.plan.ops, "op", "source.serve", 0) >= 0) execution.server = execution.helper;
    else if (execution.helper > 0) host.waitpid(execution.helper, 0);
    execution.helper = 0;
  }
  if (message === MESSAGES.console) execution.console = received.fds[0] ?? -1;
  if (message === MESSAGES.listener && received.fds[0] !== undefined) execution.listener = received.fds[0];
}

function take(execution: Execution, type: number): host.Message {
  const index = execution.early.findIndex((message) => message.type === type);
  if (index !== -1) return execution.early.splice(index, 1)[0]!;
  for (;;) {
    const received = receive(execution, execution.progress?.page);
    if (received === undefined) throw helperError().died(execution);
    if (received.type === MESSAGES.error) throw helperError().reported(execution, received);
    if (received.type === type) return received;
    if (received.type === MESSAGES.warning) helperWarning()(execution, received);
    else execution.early.push(received);
  }
}

/** How long a message may be on its way before somebody looks what is in its way. */
const LOOK_MS = 200;

/** `page`: where the message is told of before it comes. undefined: there will be no more. As long as there is outer its end is looked for, for init alone keeps the socket open too. */
function receive(execution: Execution, page: ArrayBuffer | undefined): host.Message | undefined {
  for (;;) {
    const { deadline } = execution.patience ?? {};
    const left = deadline === undefined ? LOOK_MS : Math.max(0, Math.min(LOOK_MS, deadline - host.monotonic()));
    try {
      return host.receiveMessage(execution.socket, left, page);
    } catch (error) {
      if (!host.isErrno(error, "ETIMEDOUT")) throw error;
      if (execution.helper === -1) return undefined;
      // Its last message may have come in the meantime.
      if (execution.helper > 0 && host.waitpid(execution.helper, host.WAIT.NOHANG)) execution.helper = -1;
      else slow().look(execution);
    }
  }
}

/** The socket is close-on-exec in init, so its end of file says that execve happened, or that init was killed before. */
function awaitExecve(execution: Execution): void {
  execution.meanwhile?.();
  for (;;) {
    // Nobody tells of an end of file.
    const received = receive(execution, undefined);
    if (received === undefined) {
      if (!hasExecuted(execution.pid)) throw helperError().died(execution);
      recordLate(execution);
      return;
    }
    if (received.type !== MESSAGES.warning) throw helperError().reported(execution, received);
    helperWarning()(execution, received);
  }
}

const PF_FORKNOEXEC = 0x40;

/** Of the flags in /proc/PID/stat (include/linux/sched.h), which are there until the process is reaped. */
function hasExecuted(pid: number): boolean {
  const text = host.readFile(`/proc/${pid}/stat`, undefined, true);
  const flags = Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[6]);
  return (flags & PF_FORKNOEXEC) === 0;
}

function sendPidfd(pid: number, path: string, text: string): void {
  const pidfd = host.pidfdOpen(pid);
  host.sendDescriptor(path, text, pidfd);
  host.close(pidfd);
}

/** Temp file and rename, so that a reader never sees half a number; no newline (go-runc parses strictly). */
function writePidFile(path: string, pid: number): void {
  const slash = path.lastIndexOf("/") + 1;
  const temporary = `${path.slice(0, slash)}.${path.slice(slash)}`;
  const flags = host.O.WRONLY | host.O.CREAT | (weakened("pid-file") ? 0 : host.O.EXCL | host.O.NOFOLLOW);
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
