/**
 * A container in the machine of another one, as processes of the host make and leave it. What makes it is run by `create` as a hook of the host's side,
 * in the namespaces of the container's process on the host, and what goes wrong fails `create`. What the container has of the host comes into the
 * machine's shared directory first.
 */
import * as host from "../../host/index.ts";
import { makeMountPoints } from "../boot/mount-points.ts";
import * as kernel from "../kernel.ts";
import { leaveInterfaces } from "../network/host.ts";
import { JAIL } from "../places.ts";
import { type AttachRequest, type EndRequest, fromEnvironment } from "../request.ts";
import { ask } from "./ask.ts";
import { hasMemoryLimit, tellLimit } from "./memory-limit.ts";
import { SharedDirectory } from "./shared-directory.ts";

const BROKEN = 125;
/** The monitor, whose pid namespace this process is in. */
const MONITOR = "/proc/1";

/** With the monitor ends what its paths led to. */
function whileItRuns<T>(action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!host.isErrno(error, "ENOENT", "ESRCH")) throw error;
    host.write(2, "runt: machine: it has ended\n");
    return host.exit(BROKEN);
  }
}

export function attach(): never {
  const { id, rootfs, mountPoints, config, modules, terminal, seconds } = fromEnvironment(host.getenv) as AttachRequest;
  makeMountPoints(rootfs, mountPoints);
  const isLimited = hasMemoryLimit();
  // The hook's directory is the root of the container's process to be.
  kernel.chroot(".");
  host.chdir("/");
  if (isLimited) tellLimit();
  const own = host.open(JAIL.share, host.O.PATH | host.O.DIRECTORY);
  const tree = host.cloneMount(own);
  const directory = whileItRuns(() => new SharedDirectory(MONITOR));
  const shared = whileItRuns(() => directory.add(id, tree));
  for (const fd of [own, tree]) host.close(fd);

  function fail(message: string, status: number): never {
    whileItRuns(() => directory.remove(id));
    host.write(2, `${message}\n`);
    return host.exit(status);
  }

  return ask(directory.socket, "make", { what: "container", id, config, interfaces: [], modules, shared, terminal }, seconds, {
    keep: { at: "created", name: id },
    ended: (status) => fail(`runt: machine: the container has ended with status ${status}`, BROKEN),
    failed: ({ message, status }) => fail(message, status),
    silent: () => fail(`runt: machine: it has not made the container after ${seconds} seconds, or has ended`, BROKEN),
  });
}

/** A machine that is paused does not answer. */
const PATIENCE_SECONDS = 30;

/** The last of a container on the host: a hook that `delete` runs when all its processes have ended. */
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
