/** Where a manager of systemd listens. Pure. */
import type { ManagerSocket } from "../compile/index.ts";

/** The environment variables that count. */
export interface BusEnvironment {
  readonly DBUS_SYSTEM_BUS_ADDRESS?: string | undefined;
  readonly DBUS_SESSION_BUS_ADDRESS?: string | undefined;
  readonly XDG_RUNTIME_DIR?: string | undefined;
}

export const SYSTEM_BUS = "/run/dbus/system_bus_socket";

/** The manager's own, which only root may use. */
export const SYSTEM_MANAGER: ManagerSocket = { socket: "/run/systemd/private", direct: true };

/**
 * In the order in which they are to be tried. For the system's manager the bus takes less time: a client of systemd's own socket is told of
 * each change of every unit, which takes systemd longer than all that a container needs of it. The session's bus may be without a systemd, so
 * the socket of a user's manager comes first.
 * An address in the environment of the system's bus replaces both; of a user's manager the session bus, as systemctl(1) has it.
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
