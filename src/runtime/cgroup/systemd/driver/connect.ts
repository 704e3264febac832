/** The manager of a host, connected once a process. */
import { RuntError } from "../../../errors/index.ts";
import * as host from "../../../host/index.ts";
import type { ManagerSocket, SystemdFacts } from "../compile/index.ts";
import { BusError, type Connection, openConnection, openStream, type Peer } from "./connection.ts";
import { createManager, type Manager } from "./manager.ts";

interface Known {
  readonly manager: Manager;
  readonly connection: Connection;
  peer(): Peer;
}

const known = new Map<string, Known>();
/** Socket -> why it is not tried again. A manager that has not answered once would take as long each time. */
const silent = new Map<string, RuntError>();

/** What a bus answers for a name that nobody has. */
const ABSENT: readonly string[] = ["ServiceUnknown", "NameHasNoOwner"].map((name) => `org.freedesktop.DBus.Error.${name}`);
/** sd_booted(3). */
const BOOTED = "/run/systemd/system";

/**
 * Which systemd the host has. `user`: the manager of the calling user. It is asked only for what nothing else tells, and for its version when somebody
 * wants to know that.
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
      return { ...socket, user, ...look(socket) };
    } catch (error) {
      if (!(error instanceof Unreachable)) throw error;
      refused.push(error.message);
    }
  }
  throw new RuntError("cgroup", `cannot reach ${user ? "the user's" : "the system's"} systemd: ${refused.join("; ")}`, {
    ...(user && { hint: "is a user manager running, and XDG_RUNTIME_DIR set? loginctl enable-linger starts one" }),
  });
}

function look(socket: ManagerSocket): Pick<SystemdFacts, "version" | "root"> {
  const { connection, peer } = connect(socket);
  // The socket of a bus is made by the systemd that starts the bus; otherwise that peer's cgroup is no manager's.
  const root = rootOf(peer());
  if (root !== undefined) return { root, version: () => versionOf(socket) };
  try {
    connection.requireAccess();
  } catch (error) {
    throw refusedBy(socket, error);
  }
  const facts = withManager(socket, (manager) => manager.facts());
  return { root: facts.root, version: () => facts.version };
}

export function versionOf(socket: ManagerSocket): number {
  return withManager(socket, (manager) => manager.facts().version);
}

/** The socket has no listener. */
class Unreachable extends RuntError {}

/** @throws Unreachable; RuntError cgroup for what systemd answers and for a connection that breaks */
export function withManager<T>(socket: ManagerSocket, action: (manager: Manager) => T): T {
  const { manager } = connect(socket);
  try {
    return action(manager);
  } catch (error) {
    if (socket.socket === SYSTEM_BUS && isWithoutSystemd(error) && host.geteuid() === 0) return withManager(SYSTEM_MANAGER, action);
    const told = explained(error);
    if (host.isErrno(error, "ETIMEDOUT") && told instanceof RuntError) silent.set(socket.socket, told);
    throw told;
  }
}

/** Connect without waiting for an answer, for a call that is to come. A manager that cannot be reached says so to that call. */
export function approach(socket: ManagerSocket): void {
  try {
    connect(socket);
  } catch (error) {
    if (!(error instanceof RuntError)) throw error;
  }
}

function connect({ socket, direct }: ManagerSocket): Known {
  const refusal = silent.get(socket);
  if (refusal) throw refusal;
  const found = known.get(socket);
  if (found) return found;
  try {
    const { peer, ...stream } = openStream(socket);
    const connection = openConnection(stream, direct);
    const made = { connection, manager: createManager(connection, direct), peer };
    known.set(socket, made);
    return made;
  } catch (error) {
    throw refusedBy({ socket, direct }, error);
  }
}

function refusedBy({ socket }: ManagerSocket, error: unknown): Unreachable {
  const refusal = new Unreachable("cgroup", `${socket}: ${host.reason(error)}`, { cause: error });
  if (host.isErrno(error, "ETIMEDOUT")) silent.set(socket, refusal);
  return refusal;
}

/** A bus that systemd is not on: it has just been started, or systemd has. */
function isWithoutSystemd(error: unknown): boolean {
  return error instanceof BusError && ABSENT.includes(error.code);
}

function explained(error: unknown): unknown {
  if (error instanceof RuntError || !(error instanceof Error)) return error;
  const text = error instanceof BusError ? error.message : `connection failed: ${host.reason(error)}`;
  return new RuntError("cgroup", `systemd: ${text}`, { cause: error });
}

/** The environment variables that count. */
interface BusEnvironment {
  readonly DBUS_SYSTEM_BUS_ADDRESS?: string | undefined;
  readonly DBUS_SESSION_BUS_ADDRESS?: string | undefined;
  readonly XDG_RUNTIME_DIR?: string | undefined;
}

const SYSTEM_BUS = "/run/dbus/system_bus_socket";

/** The manager's own, which only root may use. */
const SYSTEM_MANAGER: ManagerSocket = { socket: "/run/systemd/private", direct: true };

/**
 * Where a manager of systemd listens. Pure. In the order in which they are to be tried. For the
 * system's manager the bus takes less time: a client of systemd's own socket is told of each change of
 * every unit, which takes systemd longer than all that a container needs of it. The session's bus may
 * be without a systemd, so the socket of a user's manager comes first. An address in the environment
 * of the system's bus replaces both; of a user's manager the session bus, as systemctl(1) has it.
 */
export function managerSockets(user: boolean, uid: number, environment: BusEnvironment): ManagerSocket[] {
  if (user) {
    const runtime = environment.XDG_RUNTIME_DIR || `/run/user/${uid}`;
    const session = parseAddress(environment.DBUS_SESSION_BUS_ADDRESS);
    return [{ socket: `${runtime}/systemd/private`, direct: true }, ...onBus(session.length > 0 ? session : [`${runtime}/bus`])];
  }
  const given = parseAddress(environment.DBUS_SYSTEM_BUS_ADDRESS);
  if (given.length > 0) return onBus(given);
  return [...onBus([SYSTEM_BUS]), ...(uid === 0 ? [SYSTEM_MANAGER] : [])];
}

function onBus(sockets: readonly string[]): ManagerSocket[] {
  return sockets.map((socket) => ({ socket, direct: false }));
}

/** The unix sockets of "unix:path=/run/bus,guid=...;unix:abstract=name", values %-escaped. Other transports are left out. */
export function parseAddress(text = ""): string[] {
  return text.split(";").flatMap((entry) => {
    if (!entry.startsWith("unix:")) return [];
    const pairs = new Map(
      entry
        .slice("unix:".length)
        .split(",")
        .map((pair) => pair.split("=", 2) as [string, string]),
    );
    const [path, abstract] = [plainValue(pairs.get("path")), plainValue(pairs.get("abstract"))];
    if (path !== undefined) return [path];
    return abstract === undefined ? [] : [`@${abstract}`];
  });
}

/** undefined for what is missing or malformed. */
function plainValue(value: string | undefined): string | undefined {
  try {
    return value && decodeURIComponent(value);
  } catch {
    return undefined;
  }
}

const OWN_SCOPE = "/init.scope";

/**
 * The manager's own cgroup, without asking the manager. undefined: it has to be asked, after it has
 * taken the authentication.
 */
function rootOf({ pid, uid }: Peer): string | undefined {
  // A manager takes its own user. Whether another's does is to be known before a container is begun.
  if (pid <= 0 || uid !== host.geteuid()) return undefined;
  try {
    // Both see a path from the root of their own cgroup namespace.
    if (host.readlink(`/proc/${pid}/ns/cgroup`) !== host.readlink("/proc/self/ns/cgroup")) return undefined;
    return parseRoot(host.readFile(`/proc/${pid}/cgroup`, undefined, true));
  } catch (error) {
    if (host.isErrno(error, "ENOENT", "EACCES", "EPERM", "ESRCH")) return undefined;
    throw error;
  }
}

/**
 * From the text of /proc/PID/cgroup: systemd puts itself into init.scope below its own cgroup, in the hierarchies that it follows processes in.
 * undefined where it is in none, or in two that differ.
 */
export function parseRoot(text: string): string | undefined {
  const roots = new Set<string>();
  for (const line of text.split("\n")) {
    const [, path = ""] = /^(?:\d+:name=systemd|0:):(.*)$/.exec(line) ?? [];
    if (path.endsWith(OWN_SCOPE)) roots.add(path.slice(0, -OWN_SCOPE.length));
  }
  return roots.size === 1 ? [...roots][0] : undefined;
}
