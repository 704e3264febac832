/** Connections of TCP that a task has accepted, or has not accepted yet, as the kernel lists them for its network namespace. */
import { eachLine } from "./command.ts";

/** Numbers of the states in which the client still expects something. Source: include/net/tcp_states.h. */
const OPEN = new Set(["01", "03", "08"]);
const [OPENING, LISTENING] = ["03", "0A"];
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0000000000000000FFFF0000[0-9A-F]{6}7F|00000000000000000000000001000000)$/;

/** A host without IPv6 has no tcp6. */
const LIST = "cat /proc/net/tcp || exit; if [ -e /proc/net/tcp6 ]; then exec cat /proc/net/tcp6; fi";

/** Counts connections to ports of a task that have not ended. Those of its own containers by loopback do not count. @throws NetworkError program-missing, program-failed */
export function connectionsTo(namespace: string, ports: ReadonlySet<number>, timeoutMs: number): Promise<number> {
  return sumOf(namespace, timeoutMs, (line) => openIn(line, ports));
}

/** Counts connections to ports of a task that its program has not accepted yet. @throws NetworkError program-missing, program-failed */
export function unacceptedBy(namespace: string, ports: ReadonlySet<number>, timeoutMs: number): Promise<number> {
  return sumOf(namespace, timeoutMs, (line) => unacceptedIn(line, ports));
}

/** A busy namespace has more sockets than a text that is kept could have. */
async function sumOf(namespace: string, timeoutMs: number, countOf: (line: string) => number): Promise<number> {
  let sum = 0;
  await eachLine("nsenter", [`--net=${namespace}`, "sh", "-c", LIST], timeoutMs, (line) => {
    sum += countOf(line);
  });
  return sum;
}

/** 1 or 0: whether the line of a socket is such a connection. Pure. */
export function openIn(line: string, ports: ReadonlySet<number>): number {
  const { port, remote, state } = socketIn(line) ?? {};
  return port !== undefined && OPEN.has(state!) && ports.has(port) && !LOOPBACK.test(remote!) ? 1 : 0;
}

/**
 * Those whose handshake goes on, and those in the queues of accept(2). For a listening socket the kernel shows the length of this queue where others have the bytes to be received.
 * Source: net/ipv4/tcp_ipv4.c, get_tcp4_sock. Pure. @param line of one socket
 */
export function unacceptedIn(line: string, ports: ReadonlySet<number>): number {
  const { port, remote, state, received } = socketIn(line) ?? {};
  if (port === undefined || !ports.has(port)) return 0;
  if (state === LISTENING) return received!;
  if (LOOPBACK.test(remote!)) return 0;
  return state === OPENING ? 1 : 0;
}

interface Socket {
  /** Of its local address. */
  readonly port: number;
  /** Remote address in hexadecimal. */
  readonly remote: string;
  readonly state: string;
  /** Bytes to be received, or for a listening socket connections to be accepted. */
  readonly received: number;
}

/** Source: proc_net_tcp.txt of the kernel: local address, remote address, state and queues are the second to fifth field, in hexadecimal. */
function socketIn(line: string): Socket | undefined {
  const [, local = "", remote = "", state, queues = ""] = line.trim().split(/\s+/);
  const [port, received] = [local, queues].map((pair) => Number.parseInt(pair.split(":")[1] ?? "", 16));
  if (state === undefined || Number.isNaN(port) || Number.isNaN(received)) return undefined;
  return { port: port!, remote: remote.split(":")[0]!, state, received: received! };
}
