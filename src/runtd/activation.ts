/**
 * Sockets that systemd has opened before it started the daemon (socket activation). Source: sd_listen_fds(3). The unit of a socket says who may
 * connect, and keeps the socket when the daemon ends, so that clients wait for the next one.
 */
import { fstatSync, readFileSync } from "node:fs";

/** The first descriptor that is passed. */
const FIRST = 3;
/** More were never meant: there is one for each name. */
const MOST = 16;

export interface PassedSocket {
  readonly descriptor: number;
  /** As the kernel shows it; for a socket in the abstract namespace it begins with "@". */
  readonly path: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The passed sockets by their names (FileDescriptorName=). Empty if systemd has passed none to this process.
 * @param names those that the daemon knows @throws Error: a descriptor is no listening stream socket of the unix domain, or its name is not known
 */
export function passedSockets(
  { LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES }: Environment,
  names: readonly string[],
  pid = process.pid,
): ReadonlyMap<string, PassedSocket> {
  const passed = new Map<string, PassedSocket>();
  // A program that started this one without a new process id may have got them.
  if (LISTEN_FDS === undefined || LISTEN_PID !== String(pid)) return passed;
  const count = /^\d{1,3}$/.test(LISTEN_FDS) ? Number(LISTEN_FDS) : Number.NaN;
  if (!(count <= MOST)) throw new Error(`LISTEN_FDS=${LISTEN_FDS} is no number of sockets up to ${MOST}`);
  const given = LISTEN_FDNAMES?.split(":") ?? [];
  const listening = count === 0 ? new Map() : listeningSockets();
  for (let index = 0; index < count; index++) {
    const name = given[index] ?? "unknown";
    const descriptor = FIRST + index;
    const told = `the passed socket ${name} (descriptor ${descriptor})`;
    if (!names.includes(name)) throw new Error(`${told} has none of the names ${names.join(", ")}: set FileDescriptorName= in its unit`);
    if (passed.has(name)) throw new Error(`${told} has the name of another passed socket`);
    const path = listening.get(inodeOf(descriptor));
    if (path === undefined) throw new Error(`${told} is no listening stream socket of the unix domain: set ListenStream= to a path`);
    passed.set(name, { descriptor, path });
  }
  return passed;
}

/** Keeps the variables from the programs that the daemon starts. */
export function forgetPassedSockets(environment: Record<string, string | undefined>): void {
  for (const name of ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]) delete environment[name];
}

/** undefined: it is not open, or no socket. */
function inodeOf(descriptor: number): number | undefined {
  try {
    const found = fstatSync(descriptor);
    return found.isSocket() ? found.ino : undefined;
  } catch {
    return undefined;
  }
}

const STREAM = "0001";
/** __SO_ACCEPTCON of the kernel. */
const LISTENS = "00010000";

/** Paths of the stream sockets of the unix domain that listen, by inode. Source: proc_pid_net(5) */
function listeningSockets(): Map<number | undefined, string> {
  const found = new Map<number | undefined, string>();
  for (const line of readFileSync("/proc/self/net/unix", "utf8").split("\n").slice(1)) {
    const [, flags, type, inode, path] = /^\S+: \S+ \S+ (\S+) (\S+) \S+ +(\d+) (.+)$/.exec(line) ?? [];
    if (flags === LISTENS && type === STREAM && path !== undefined) found.set(Number(inode), path);
  }
  return found;
}
