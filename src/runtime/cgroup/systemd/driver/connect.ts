/** The manager of a host, connected once a process. */
import { RuntError } from "../../../errors/index.ts";
import * as host from "../../../host/index.ts";
import type { ManagerSocket, SystemdFacts } from "../compile/index.ts";
import { managerSockets } from "./address.ts";
import { BusError, openConnection } from "./connection.ts";
import { createManager, type Manager } from "./manager.ts";
import { openStream } from "./stream.ts";

const known = new Map<string, Manager>();
/** Socket -> why it is not tried again. A manager that has not answered once would take as long each time. */
const silent = new Map<string, RuntError>();

/** sd_booted(3). */
const BOOTED = "/run/systemd/system";

/**
 * Which systemd the host has, and what it says of itself. `user`: the manager of the calling user.
 * @throws RuntError cgroup, in runc's words where there is none
 */
export function readSystemd(user: boolean): SystemdFacts {
  if (!host.stat(BOOTED)) throw new RuntError("cgroup", "systemd not running on this host, cannot use systemd cgroups manager");
  const sockets = managerSockets(user, host.geteuid(), {
    DBUS_SYSTEM_BUS_ADDRESS: host.getenv("DBUS_SYSTEM_BUS_ADDRESS"),
    DBUS_SESSION_BUS_ADDRESS: host.getenv("DBUS_SESSION_BUS_ADDRESS"),
    XDG_RUNTIME_DIR: host.getenv("XDG_RUNTIME_DIR"),
  });
  const refused: string[] = [];
  for (const socket of sockets) {
    try {
      return { ...socket, user, ...ask(socket) };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      refused.push(error.message);
    }
  }
  throw new RuntError("cgroup", `cannot reach ${user ? "the user's" : "the system's"} systemd: ${refused.join("; ")}`, {
    ...(user && { hint: "is a user manager running, and XDG_RUNTIME_DIR set? loginctl enable-linger starts one" }),
  });
}

function ask(socket: ManagerSocket): Pick<SystemdFacts, "version" | "root"> {
  return withManager(socket, (manager) => manager.facts());
}

/** The socket has no listener. */
export class Unreachable extends RuntError {}

/** @throws Unreachable; RuntError cgroup for what systemd answers and for a connection that breaks */
export function withManager<T>(socket: ManagerSocket, action: (manager: Manager) => T): T {
  const refusal = silent.get(socket.socket);
  if (refusal) throw refusal;
  const manager = connect(socket);
  try {
    return action(manager);
  } catch (error) {
    const told = explained(error);
    if (host.isErrno(error, "ETIMEDOUT") && told instanceof RuntError) silent.set(socket.socket, told);
    throw told;
  }
}

function connect({ socket, direct }: ManagerSocket): Manager {
  const found = known.get(socket);
  if (found) return found;
  let connection: ReturnType<typeof openConnection>;
  try {
    connection = openConnection(openStream(socket), direct);
  } catch (error) {
    const refusal = new Unreachable("cgroup", `${socket}: ${host.reason(error)}`, { cause: error });
    if (host.isErrno(error, "ETIMEDOUT")) silent.set(socket, refusal);
    throw refusal;
  }
  const manager = createManager(connection, direct);
  known.set(socket, manager);
  return manager;
}

function explained(error: unknown): unknown {
  if (error instanceof RuntError || !(error instanceof Error)) return error;
  const text = error instanceof BusError ? error.message : `connection failed: ${host.reason(error)}`;
  return new RuntError("cgroup", `systemd: ${text}`, { cause: error });
}
