/**
 * Readiness of a container whose caller is a service (sd_notify(3)). The container has a socket of its own, and only its READY=1 is
 * told to the host's: what else a service may say (MAINPID, FDSTORE) is not for a container to decide.
 */

import type { OpArgs } from "../../shared/protocol/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { notifyDirectory } from "../plan/index.ts";
import { containerDirectory } from "../state/index.ts";
import type { Execution, NotificationSockets } from "./execution.ts";

const DIRECTORY_MODE = 0o755;

/** The operation notify.prepare. */
export function prepareNotification({ made, running }: Execution, { directory, listen, host: address }: OpArgs<"notify.prepare">): void {
  checkAddress(address);
  host.mkdir(directory, DIRECTORY_MODE);
  // mkdir(2) is subject to the umask.
  host.chmod(directory, DIRECTORY_MODE);
  made.hasDirectory = true;
  if (!listen) return;
  const sockets = listenFor(directory, address, made.warnings);
  if (sockets) running.notification = sockets;
}

/** For `start`: undefined when the container has no notify socket, or the host has no listener. Adds to `warnings`. */
export function listenAgain(root: string, id: string, warnings: string[]): NotificationSockets | undefined {
  const address = host.getenv("NOTIFY_SOCKET");
  const directory = notifyDirectory(containerDirectory(root, id));
  if (!address || !host.lstat(directory)) return undefined;
  checkAddress(address);
  return listenFor(directory, address, warnings);
}

/** Wait until the container is ready, or its init has ended. Replaces this process by the helper, which is smaller, and ends with status 0. */
export function waitUntilReady({ container, host: caller }: NotificationSockets, pid: number, pidfd: number): never {
  return host.execHelper(["notify", String(container), String(caller), String(pidfd), String(pid)], [container, caller, pidfd]);
}

function checkAddress(address: string): void {
  if (!/^[/@]./.test(address)) throw new RuntError("usage", `NOTIFY_SOCKET=${address}: use an absolute path, or @ and a name`);
}

/** The host's socket is connected first. If it has no listener, the container starts as it would without a socket. */
function listenFor(directory: string, address: string, warnings: string[]): NotificationSockets | undefined {
  const caller = connectHost(address, warnings);
  if (caller === undefined) return undefined;
  const path = `${directory}/notify.sock`;
  // Of a `start` that was killed.
  if (host.lstat(path)) host.unlink(path);
  return { container: host.bindDatagram(path), host: caller };
}

/** undefined: left over in an environment of a service that is gone, most often. */
function connectHost(address: string, warnings: string[]): number | undefined {
  try {
    return host.connectDatagram(address);
  } catch (error) {
    warnings.push(
      `NOTIFY_SOCKET=${address}: ${host.reason(error as host.HostError)}: the service manager is not told that the container is ready`,
    );
    return undefined;
  }
}
