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
import { kernelHint } from "./kernel-hints.ts";
import { pidFromMessages } from "./reap.ts";
import type { StartFailure } from "./start-failure.ts";

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
  const details = { ...(op && op.from !== "" ? { pointer: op.from } : {}) };
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
