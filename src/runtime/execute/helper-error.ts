/** What the helper reports, in the words that people and engines expect. */
import { RLIMIT } from "../../shared/linux/index.ts";
import { MESSAGES, type OpName, PAGE_WORD } from "../../shared/protocol/index.ts";
import { memoryPressure } from "../cgroup/index.ts";
import { RuntError, WORDS } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { Op, Plan } from "../plan/index.ts";
import { diagnose, diagnoseExecve } from "../post-mortem/index.ts";
import type { StateRecord } from "../state/index.ts";
import type { Execution, Running } from "./execution.ts";
import { pidFromMessages } from "./reap.ts";

const PREFIX = "unable to start container process: ";

export const helperError = {
  /** init waits until the socket is closed, so that it can be looked at. */
  reported(execution: Execution, message: host.Message): RuntError {
    const error = wordsFor(execution, message);
    const { asked, made, running } = execution;
    const op = asked.plan.ops[message.op];
    if (op === undefined) return error;
    const code = host.errnoName(Math.abs(message.errno));
    const { path, text } = message;
    if (op.actor === "init" && running.pid <= 0) running.pid = lateInit(running);
    // It is a child of this process that has not been waited for.
    const init = { pid: running.pid, startTime: undefined };
    const reason = diagnose(init, made.record.rootfs, { op, plan: asked.plan, code, path, text });
    return reason === undefined ? error : new RuntError(error.code, `${error.message}: ${reason}`, error.details);
  },

  /** init could not become the program after `start`; it stays for a moment, so that it can be looked at. */
  execve({ pid, startTime, rootfs }: StateRecord, { errno, path, text }: StartFailure): RuntError {
    const reason = path === "" ? undefined : diagnoseExecve({ pid, startTime }, rootfs, path);
    const message = `${PREFIX}${text} ${path}: ${host.strerror(errno)}${reason === undefined ? "" : `: ${reason}`}`;
    return new RuntError("operation", message, hintFor("process.exec", errno));
  },

  /** The socket ended without a message: init was killed, most often by its own memory limit. */
  died({ asked: { plan, progress }, made: { record } }: Execution): RuntError {
    const pressure = record.cgroup && memoryPressure(record.cgroup);
    const tooLittle = pressure && pressure.kills > 0;
    const reason = tooLittle ? `: the memory limit${limitText(pressure.limit)} is too low, the kernel has killed it` : "";
    const details = !tooLittle && progress && isFiltered(plan, new Uint32Array(progress.page)) ? UNDER_FILTER : {};
    return new RuntError("operation", `${PREFIX}container init died before it was ready${reason}`, details);
  },

  /** After `start` init has ended without a word, and was not the program yet. */
  refused(): RuntError {
    return new RuntError("operation", `${PREFIX}container init died before the program began`, UNDER_FILTER);
  },
};

/** The intermediate only has to be given a processor to tell init's pid. */
const PID_MS = 1000;

/** On a busy host init may fail before the intermediate has told its pid. 0: it has not come. */
function lateInit({ early, socket }: Running): number {
  return early.find(({ type }) => type === MESSAGES.pid)?.value ?? pidFromMessages(socket, PID_MS);
}

/** The kernel rounds down to whole pages. */
function limitText(limit: string): string {
  return limit === "0" ? ", less than one page," : ` of ${limit} bytes`;
}

function wordsFor(execution: Execution, message: host.Message): RuntError {
  const op = execution.asked.plan.ops[message.op];
  const errno = Math.abs(message.errno);
  const details = { ...(op && op.from !== "" && { pointer: op.from }) };
  if (op?.op === "process.program" || op?.op === "process.exec") {
    return new RuntError("operation", PREFIX + programText(op, message.path, errno), { ...details, ...hintFor(op.op, errno) });
  }
  if (op?.op === "hook.run") return new RuntError("hook", `${PREFIX}error during container init: ${message.text}`, details);
  if (op?.op === "process.rlimit") {
    const { resource, soft, hard } = op.args;
    return new RuntError(
      "operation",
      `${PREFIX}error setting ${rlimitName(resource)} to soft ${soft}, hard ${hard}: ${host.strerror(errno)}`,
      details,
    );
  }
  const path = message.path === "" ? "" : ` ${JSON.stringify(message.path)}`;
  const cause = [message.text, errno === 0 ? "" : host.strerror(errno)].filter((part) => part !== "").join(": ");
  const words = runcsWords(execution.running, op);
  return new RuntError("operation", `${PREFIX}error during container init: ${words}${op?.op ?? "helper"}${path}: ${cause}`, {
    ...details,
    ...hintFor(op?.op, errno),
  });
}

/** runc's words for this error, which clients look for. */
function runcsWords({ pid, helper }: Running, op: Op | undefined): string {
  if (op?.op === "cgroup.open" || op?.op === "cgroup.join") return `error adding pid ${pid || helper} to cgroups: `;
  return op?.op.startsWith("mount.") && op.op !== "mount.detach" ? "error mounting: " : "";
}

function hintFor(op: OpName | undefined, errno: number): { readonly hint?: string } {
  const hint = kernelHint(op, host.errnoName(errno));
  return hint === undefined ? {} : { hint };
}

/** Go's os/exec words, which Docker and Podman turn into exit statuses 126 and 127. */
function programText(op: Op<"process.program"> | Op<"process.exec">, path: string, errno: number): string {
  if (op.op === "process.exec") return `exec ${path}: ${host.strerror(errno)}`;
  const { name } = op.args;
  const code = host.errnoName(errno);
  if (code === "ENOENT")
    return name.includes("/") ? `exec: "${name}": stat ${name}: no such file or directory` : `exec: "${name}": ${WORDS.executableNotFound}`;
  return `exec: "${name}": ${host.strerror(errno)}`;
}

function rlimitName(resource: number): string {
  return Object.entries(RLIMIT).find(([, number]) => number === resource)?.[0] ?? `rlimit ${resource}`;
}

/** A filter may refuse init to become the program, to say so, and even to end: the kernel kills it then. */
const UNDER_FILTER = { pointer: "/linux/seccomp", hint: "the filter must allow execve, and what the program needs to begin" };

function isFiltered({ ops }: Plan, words: Uint32Array): boolean {
  const loaded = ops.findIndex(({ op }) => op === "seccomp.load");
  return loaded >= 0 && (words[PAGE_WORD.init] ?? 0) > loaded;
}

const TOO_LARGE =
  "process.args and process.env together, with a pointer to each, may take a quarter of RLIMIT_STACK, at least 128 KiB and at most 6 MiB; one string 128 KiB";

const HINTS: Partial<Record<OpName, Readonly<Record<string, string>>>> = {
  "process.exec": { E2BIG: TOO_LARGE },
  "process.scheduler": {
    EPERM:
      "a real-time policy, a deadline or a lower nice value needs CAP_SYS_NICE on the host, which a user namespace does not give; a real-time policy needs linux.resources.cpu.realtimeRuntime on some kernels; with a deadline the process scheduler can't be used together with AllowedCPUs (linux.resources.cpu.cpus), it needs all CPUs of the machine",
    EINVAL: "this kernel has no such policy, or not with these values",
    EBUSY: "the machine has not enough time left for this deadline",
    EOPNOTSUPP: "this kernel has no utilisation clamping",
  },
  "process.ioPriority": { EPERM: "IOPRIO_CLASS_RT needs CAP_SYS_NICE or CAP_SYS_ADMIN on the host, which a user namespace does not give" },
  "process.memoryPolicy": {
    EINVAL:
      "none of the nodes is there and allowed for the container, or this kernel has no such mode or flag (MPOL_PREFERRED_MANY: 5.15, MPOL_WEIGHTED_INTERLEAVE: 6.9)",
    ENOSYS: "this kernel is built without NUMA",
  },
  "process.personality": { EINVAL: "this machine runs no 32-bit programs" },
  "mount.bind": {
    EINVAL: "a file can be mounted on a file only, and a directory on a directory; a source that is unbindable cannot be mounted at all",
  },
  // init stands in the user namespace already when it goes there.
  "root.open": { EACCES: "every directory above it must be searchable for the container's root user" },
};

/**
 * What a bare errno of an operation most likely means, where the errno alone does not tell. `code` is
 * the name of the errno.
 */
function kernelHint(op: OpName | undefined, code: string): string | undefined {
  return op && HINTS[op]?.[code];
}

export interface StartFailure {
  readonly errno: number;
  /** The program, for execve(2). */
  readonly path: string;
  readonly text: string;
}

/** Bytes that a FIFO holds (pipe(7)). A report is shorter. */
const FIFO_MAX = 65_536;
/** What start writes for a container that is no template. */
export const GO = "\0";

/**
 * What init left in exec.fifo when it could not become the program (report_to_start in
 * native-bindings/init/main.c). Read the content of the fifo, by the descriptor `writer`, which has
 * kept it alive and is closed. undefined: nothing has failed.
 * @throws RuntError wrong-status when init was killed before it took what start has written
 */
export function readStartFailure(writer: number): StartFailure | undefined {
  const reader = host.open(`/proc/self/fd/${writer}`, host.O.RDONLY | host.O.NONBLOCK);
  // Without a writer the end is the end of the file.
  host.close(writer);
  try {
    const report = host.readFd(reader, FIFO_MAX);
    // A report is text. What start writes, also the message to a template (packClaim), ends with a NUL.
    if (report.includes("\0")) throw new RuntError("wrong-status", WORDS.startStopped);
    return parseStartFailure(report);
  } catch (error) {
    if (host.isErrno(error, "EILSEQ")) throw new RuntError("wrong-status", WORDS.startStopped);
    // init holds its end still: a file system is in the way of execve, and nothing has failed yet.
    if (host.isErrno(error, "EAGAIN")) return undefined;
    throw error;
  } finally {
    host.close(reader);
  }
}

/** errno, path and text, a line each; the text may have more lines. */
export function parseStartFailure(report: string): StartFailure | undefined {
  if (report === "") return undefined;
  const [errno = "", path = "", ...text] = report.split("\n");
  return { errno: Number(errno), path, text: text.join("\n") };
}
