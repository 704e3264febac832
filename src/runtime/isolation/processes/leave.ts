/** The last of a container on the host: a hook that `delete` runs when all its processes have ended. */
import * as host from "../../host/index.ts";
import { leaveInterfaces } from "../network/host.ts";
import { type EndRequest, fromEnvironment } from "../request.ts";
import { ask } from "./ask.ts";
import { SharedDirectory } from "./shared.ts";

/** A machine that is paused does not answer. */
const PATIENCE_SECONDS = 30;

export function leave(): never {
  const { network, joined } = fromEnvironment(host.getenv) as EndRequest;
  if (network !== undefined) leaveNetwork(network);
  return joined === undefined ? host.exit(0) : leaveMachine(joined);
}

function leaveNetwork(network: string): void {
  try {
    leaveInterfaces(network);
  } catch (error) {
    // Whoever has made the namespace may have removed it.
    if (!host.isErrno(error, "ENOENT")) throw error;
  }
}

/** In the machine, then in its shared directory. With the machine both have ended. */
function leaveMachine({ id, pid, startTime }: NonNullable<EndRequest["joined"]>): never {
  if (host.runningState(pid, startTime) === undefined) return host.exit(0);
  try {
    const directory = new SharedDirectory(`/proc/${pid}`);
    const rest = (): never => {
      directory.remove(id);
      return host.exit(0);
    };
    return ask(directory.socket, "open", { what: "removal", id, terminal: false }, PATIENCE_SECONDS, {
      ended: rest,
      failed: rest,
      silent: rest,
    });
  } catch (error) {
    // It has just ended.
    if (!host.isErrno(error, "ENOENT", "ESRCH", "ECONNREFUSED")) throw error;
    return host.exit(0);
  }
}
