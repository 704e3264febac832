/**
 * The runtime's half of a plan: its own operations in list order, the helper's between `helper.spawn` and `commit`.
 * Anything that throws here is undone by the caller from the state record.
 */
import { attachDeviceProgram, createCgroup, writeCgroupFile } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { encodePlan, MESSAGES, type OPS, type Op, type OpArgs, type OpName, type Plan } from "../plan/index.ts";
import { reserve, type StateRecord, writeRecord } from "../state/index.ts";
import { helperError } from "./helper-error.ts";

/** What execution knows so far; `record` grows from the intent to the committed state. */
export interface Execution {
  readonly root: string;
  readonly plan: Plan;
  record: StateRecord;
  lock: number;
  helper: number;
  socket: number;
  pid: number;
  /** Master side of an own terminal (foreground), -1 if there is none. */
  console: number;
  /** Received before it was waited for: outer's `pid` and init's first message race. */
  readonly early: host.Message[];
  readonly warnings: string[];
}

type RuntimeOp = {
  [K in OpName]: "runtime" extends (typeof OPS)[K]["actors"][number] ? K : never;
}[OpName];
type Handlers = { readonly [K in RuntimeOp]: (execution: Execution, args: OpArgs<K>, pointer: string) => void };

const HANDLERS: Handlers = {
  "state.intent": (execution) => {
    execution.lock = reserve(execution.root, execution.record.id);
    writeRecord(execution.root, execution.record);
  },
  "fifo.create": (_, { path, mode }) => {
    host.mkfifo(path, mode);
    // mkfifo(2) is subject to the umask.
    host.chmod(path, mode);
  },
  "cgroup.create": (_, { path }) => createCgroup(path),
  "cgroup.write": (_, { path, value }, pointer) => writeCgroupFile(path, value, pointer),
  "cgroup.devices": (_, { path, rules }) => attachDeviceProgram(path, rules),
  "helper.spawn": spawn,
  "idmap.write": (execution, args) => writeIdMaps(execution.pid, args),
  "process.oomScoreAdj": ({ pid }, { value }) => writeProc(pid, "oom_score_adj", String(value)),
  "process.rlimit": ({ pid }, { resource, soft, hard }) => host.prlimit(pid, resource, soft, hard),
  "state.commit": commit,
  "pidfile.write": ({ pid }, { path }) => writePidFile(path, pid),
  "sync.send": ({ socket }, { message }) => host.sendMessage(socket, message),
  "sync.wait": waitFor,
};

/** Execute every runtime operation. On return the container exists (create) or its program has been started (run). */
export function execute(execution: Execution): void {
  for (const op of execution.plan.ops) {
    if (op.actor === "runtime") runHandler(execution, op);
  }
  if (execution.plan.ops.at(-1)?.op === "process.exec" && !execution.plan.ops.some(({ op }) => op === "process.wait")) {
    awaitExecve(execution);
  }
  host.close(execution.socket);
}

function runHandler(execution: Execution, op: Op): void {
  const handler = HANDLERS[op.op as RuntimeOp] as (execution: Execution, args: Op["args"], pointer: string) => void;
  try {
    handler(execution, op.args, op.from);
  } catch (error) {
    if (error instanceof RuntError || !(error instanceof Error) || !("errno" in error)) throw error;
    const { path } = error as host.HostError;
    throw new RuntError("operation", `${op.op}${path ? ` ${path}` : ""}: ${host.reason(error)}`, { pointer: op.from, cause: error });
  }
}

function spawn(execution: Execution): void {
  const { format, values } = encodePlan(execution.plan);
  const plan = host.memfd("runt-plan", host.pack(format, values));
  const [ours, theirs] = host.socketpair();
  execution.socket = ours;
  execution.helper = host.spawnHelper(["plan", String(theirs), String(plan)], [theirs, plan]);
  host.close(theirs);
  host.close(plan);
}

function waitFor(execution: Execution, { message }: OpArgs<"sync.wait">): void {
  const received = take(execution, message);
  if (message === MESSAGES.pid) {
    execution.pid = received.value;
    // outer has nothing more to do; it must be gone before create returns.
    host.waitpid(execution.helper, 0);
    execution.helper = 0;
  }
  if (message === MESSAGES.console) execution.console = received.fds[0] ?? -1;
}

function take(execution: Execution, type: number): host.Message {
  const index = execution.early.findIndex((message) => message.type === type);
  if (index !== -1) return execution.early.splice(index, 1)[0]!;
  for (;;) {
    const received = host.receiveMessage(execution.socket, -1);
    if (received === undefined) throw helperError.died(execution);
    if (received.type === type) return received;
    if (received.type === MESSAGES.error) throw helperError.reported(execution.plan, received);
    if (received.type === MESSAGES.warning) execution.warnings.push(received.text);
    else execution.early.push(received);
  }
}

/** run: the socket is close-on-exec in init, so its end of file says that execve happened. */
function awaitExecve(execution: Execution): void {
  const received = host.receiveMessage(execution.socket, -1);
  if (received !== undefined) throw helperError.reported(execution.plan, received);
}

function commit(execution: Execution): void {
  const started = host.procStat(execution.pid);
  if (!started) throw helperError.died(execution);
  execution.record = {
    ...execution.record,
    phase: "created",
    pid: execution.pid,
    startTime: String(started.startTime),
    warnings: [...execution.record.warnings, ...execution.warnings],
  };
  writeRecord(execution.root, execution.record);
}

function writeProc(pid: number, file: string, text: string): void {
  host.writeFile(`/proc/${pid}/${file}`, text, host.O.WRONLY, 0);
}

/** user_namespaces(7): setgroups must be denied before an unprivileged gid_map is written. */
function writeIdMaps(pid: number, { uidMap, gidMap, setgroups }: OpArgs<"idmap.write">): void {
  if (!setgroups) writeProc(pid, "setgroups", "deny");
  writeProc(pid, "gid_map", mapLines(gidMap));
  writeProc(pid, "uid_map", mapLines(uidMap));
}

function mapLines(triples: readonly number[]): string {
  let text = "";
  for (let index = 0; index < triples.length; index += 3) text += `${triples[index]} ${triples[index + 1]} ${triples[index + 2]}\n`;
  return text;
}

/** Temp file and rename, so that a reader never sees half a number; no newline (go-runc parses strictly). */
function writePidFile(path: string, pid: number): void {
  const slash = path.lastIndexOf("/") + 1;
  const temporary = `${path.slice(0, slash)}.${path.slice(slash)}`;
  host.writeFile(temporary, String(pid), host.O.WRONLY | host.O.CREAT | host.O.EXCL | host.O.NOFOLLOW, 0o666);
  host.rename(temporary, path);
}
