import { MESSAGES } from "../../shared/protocol/index.ts";
import * as host from "../host/index.ts";
import type { Running } from "./execution.ts";
import { awaitEnd, closePidfd, pidfdOf, signalProcess } from "./pidfd.ts";

/** How long the death of a killed child may take. */
const DEATH_MS = 10_000;

/** Frozen processes (v1) die when they are thawed; then the subreaper reaps them. */
export const FROZEN_DEATH_MS = 100;

/** All of them children of this process. */
type Children = Readonly<Pick<Running, "socket" | "pid" | "helper" | "server">>;

/** What an execution that has failed leaves running ends, and is reaped if that does not take too long. */
export function endChildren({ socket, pid, helper, server }: Children, milliseconds = DEATH_MS): void {
  end(helper, milliseconds);
  // No process is left that could clone.
  end(pid > 0 || helper <= 0 ? pid : pidFromMessages(socket, 0), milliseconds);
  // It ends with init, and has a child of its own to reap.
  if (server > 0) host.waitpid(server, 0);
  if (socket !== -1) host.close(socket);
}

function end(child: number, milliseconds: number): void {
  if (child <= 0) return;
  try {
    const pidfd = pidfdOf(child);
    signalProcess(pidfd, child, host.signalNumber("KILL"));
    // One that the kernel does not end (a file system that is gone) is left to it.
    awaitEnd(pidfd, () => !host.waitpid(child, host.WAIT.NOHANG), milliseconds);
    closePidfd(pidfd);
  } catch (error) {
    if (!host.isErrno(error, "ESRCH")) throw error;
  }
  host.waitpid(child, host.WAIT.NOHANG);
}

/** Pid of an init, from a message of the intermediate that was not read; 0: none. An init without a message ends with the socket. */
export function pidFromMessages(socket: number, milliseconds: number): number {
  for (;;) {
    const message = nextMessage(socket, milliseconds);
    if (message === undefined || message.type === MESSAGES.pid) return message?.value ?? 0;
    for (const fd of message.fds) host.close(fd);
  }
}

function nextMessage(socket: number, milliseconds: number): host.Message | undefined {
  try {
    return socket === -1 ? undefined : host.receiveMessage(socket, milliseconds);
  } catch (error) {
    if (host.isErrno(error, "ETIMEDOUT", "EBADMSG")) return undefined;
    throw error;
  }
}

/**
 * What an exec has started and knows no number of: the intermediate died between its clone and its
 * message. Only for an exec that has failed. Children of this process that are in a namespace of the
 * container's; others may be the caller's, from before it became runt.
 */
export function endOrphans(target: number): void {
  for (const pid of children()) if (isInContainer(pid, target)) endChildren({ socket: -1, pid, helper: 0, server: 0 });
}

/** Needs CONFIG_PROC_CHILDREN, which checkpoints need too. */
function children(): number[] {
  try {
    const text = host.readFile(`/proc/self/task/${host.getpid()}/children`, undefined, true);
    return text.split(" ").map(Number).filter(Boolean);
  } catch (error) {
    if (host.isErrno(error, "ENOENT")) return [];
    throw error;
  }
}

function isInContainer(pid: number, target: number): boolean {
  return ["mnt", "pid", "net", "ipc", "uts"].some((type) => {
    const [its, targets, own] = [pid, target, "self"].map((process) => namespaceOf(process, type));
    return its !== undefined && its === targets && its !== own;
  });
}

function namespaceOf(process: number | string, type: string): bigint | undefined {
  try {
    return host.stat(`/proc/${process}/ns/${type}`)?.ino;
  } catch (error) {
    if (host.isErrno(error, "EACCES", "EPERM", "ESRCH")) return undefined;
    throw error;
  }
}
