import * as host from "../host/index.ts";
import { MESSAGES } from "../plan/index.ts";
import type { Execution } from "./execute.ts";

/** What an execution that has failed leaves running ends, and is reaped. */
export function endChildren({ socket, pid, helper, server }: Pick<Execution, "socket" | "pid" | "helper" | "server">): void {
  end(helper);
  // Nobody clones any more.
  end(pid > 0 || helper <= 0 ? pid : toldOf(socket));
  // It ends with init, and has a child of its own to reap.
  if (server > 0) host.waitpid(server, 0);
  if (socket !== -1) host.close(socket);
}

function end(child: number): void {
  if (child <= 0) return;
  try {
    host.kill(child, host.signalNumber("KILL"));
  } catch (error) {
    if (!host.isErrno(error, "ESRCH")) throw error;
  }
  host.waitpid(child, 0);
}

/** The init that outer has told of, and nobody has heard; 0: none. One that it could not tell of ends with the socket. */
function toldOf(socket: number): number {
  for (;;) {
    const message = nextMessage(socket);
    if (message === undefined || message.type === MESSAGES.pid) return message?.value ?? 0;
    for (const fd of message.fds) host.close(fd);
  }
}

function nextMessage(socket: number): host.Message | undefined {
  try {
    return socket === -1 ? undefined : host.receiveMessage(socket, 0);
  } catch (error) {
    if (host.isErrno(error, "ETIMEDOUT", "EBADMSG")) return undefined;
    throw error;
  }
}
