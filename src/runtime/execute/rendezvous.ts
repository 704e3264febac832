/** Messages to and from the helper: the intermediate until it has cloned, then init. */
import { MESSAGES, type OpArgs } from "../../shared/protocol/index.ts";
import * as host from "../host/index.ts";
import { capabilityList } from "../plan/index.ts";
import { lifeOf } from "./begun.ts";
import { recordLate, stage } from "./commit.ts";
import type { Execution } from "./execution.ts";
import { helperError } from "./helper-error.ts";
import { prepareMonitor } from "./monitor.ts";
import { lookAtSlow } from "./slow.ts";

export function send(execution: Execution, message: number, descriptor?: number): void {
  try {
    host.sendMessage(execution.running.socket, message, descriptor, execution.asked.progress?.page);
  } catch (error) {
    if (!host.isErrno(error, "EPIPE", "ECONNRESET")) throw error;
    // init has ended; its last message says why.
    take(execution, MESSAGES.error);
  }
}

export function waitFor(execution: Execution, { message }: OpArgs<"sync.wait">): void {
  const { asked, made, running } = execution;
  if (message === MESSAGES.ready && made.record.phase === "creating") stage(execution);
  const received = take(execution, message);
  if (message === MESSAGES.ready && running.server > 0) {
    host.waitpid(running.server, 0);
    running.server = 0;
  }
  if (message === MESSAGES.pid) {
    running.pid = received.value;
    asked.progress?.init(running.pid);
    // The intermediate has nothing more to do, or will not when init is ready; it must be gone before create returns.
    if (host.findNext(asked.plan.ops, "op", "source.serve", 0) >= 0) running.server = running.helper;
    else if (running.helper > 0) host.waitpid(running.helper, 0);
    running.helper = 0;
  }
  if (message === MESSAGES.console) running.console = received.fds[0] ?? -1;
  if (message === MESSAGES.listener && received.fds[0] !== undefined) running.listener = received.fds[0];
}

function take(execution: Execution, type: number): host.Message {
  const { early } = execution.running;
  const index = early.findIndex((message) => message.type === type);
  if (index !== -1) return early.splice(index, 1)[0]!;
  for (;;) {
    const received = receive(execution, execution.asked.progress?.page);
    if (received === undefined) throw helperError.died(execution);
    if (received.type === MESSAGES.error) throw helperError.reported(execution, received);
    if (received.type === type) return received;
    if (received.type === MESSAGES.warning) addHelperWarning(execution, received);
    else early.push(received);
  }
}

/** After how long a wait for a message the runtime looks for what delays it. */
const LOOK_MS = 200;

/** `page` has the word that counts messages before they come. undefined: no more messages will come. While the intermediate lives, its end is polled for as well, because init alone keeps the socket open. */
function receive(execution: Execution, page: ArrayBuffer | undefined): host.Message | undefined {
  const { asked, running } = execution;
  for (;;) {
    const { deadline } = asked.patience ?? {};
    const left = deadline === undefined ? LOOK_MS : Math.max(0, Math.min(LOOK_MS, deadline - host.monotonic()));
    try {
      return host.receiveMessage(running.socket, left, page);
    } catch (error) {
      if (!host.isErrno(error, "ETIMEDOUT")) throw error;
      if (running.helper === -1) return undefined;
      // Its last message may have come in the meantime.
      if (running.helper > 0 && host.waitpid(running.helper, host.WAIT.NOHANG)) running.helper = -1;
      else lookAtSlow(execution);
    }
  }
}

/** The socket is close-on-exec in init, so its end of file says that execve happened, or that init was killed before. */
export function awaitExecve(execution: Execution): void {
  // In the meantime.
  const { monitored } = execution.asked;
  if (monitored) execution.running.monitor = prepareMonitor(execution, monitored.keep);
  for (;;) {
    // The word of the page does not count an end of file.
    const received = receive(execution, undefined);
    if (received === undefined) {
      if (lifeOf(execution.running.pid)?.executed !== true) throw helperError.died(execution);
      recordLate(execution);
      return;
    }
    if (received.type !== MESSAGES.warning) throw helperError.reported(execution, received);
    addHelperWarning(execution, received);
  }
}

/** The helper knows numbers only. */
const MASK = /0x([0-9a-f]+)$/;

/** What the helper has skipped or reduced by an operation's table of outcomes. */
function addHelperWarning({ asked: { plan }, made: { warnings, demanded } }: Execution, { op, text }: host.Message): void {
  if (plan.ops[op]?.op !== "capability.set") {
    warnings.push(text);
    return;
  }
  const named = text.replace(MASK, (mask) =>
    capabilityList(BigInt(mask))
      .split(",")
      .map((name) => (name.startsWith("0x") ? name : `CAP_${name}`))
      .join(", "),
  );
  warnings.push(named);
  demanded.push(named);
}
