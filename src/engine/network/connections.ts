/** Connections of TCP that a task has accepted, or has not accepted yet, as the kernel lists them for its network namespace. */
import { output } from "./command.ts";

/** Numbers of the states in which the client still expects something. Source: include/net/tcp_states.h. */
const OPEN = new Set(["01", "03", "08"]);
const [OPENING, LISTENING] = ["03", "0A"];
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0000000000000000FFFF0000[0-9A-F]{6}7F|00000000000000000000000001000000)$/;

/** Sockets of TCP of a network namespace. @throws NetworkError program-missing, program-failed */
function socketsOf(namespace: string, timeoutMs: number): Promise<string> {
  return output("nsenter", [`--net=${namespace}`, "cat", "/proc/net/tcp", "/proc/net/tcp6"], timeoutMs);
}

/** Counts connections to ports of a task that have not ended. Those of its own containers by loopback do not count. @throws NetworkError program-missing, program-failed */
export async function connectionsTo(namespace: string, ports: ReadonlySet<number>, timeoutMs: number): Promise<number> {
  return countIn(await socketsOf(namespace, timeoutMs), ports);
}

/** Counts connections to ports of a task that its program has not accepted yet. @throws NetworkError program-missing, program-failed */
export async function unacceptedBy(namespace: string, ports: ReadonlySet<number>, timeoutMs: number): Promise<number> {
  return unacceptedIn(await socketsOf(namespace, timeoutMs), ports);
}

/** Pure. */
export function countIn(text: string, ports: ReadonlySet<number>): number {
  return socketsIn(text).filter(({ port, remote, state }) => OPEN.has(state) && ports.has(port) && !LOOPBACK.test(remote)).length;
}

/**
 * Those whose handshake goes on, and those in the queues of accept(2). For a listening socket the kernel shows the length of this queue where others have the bytes to be received.
 * Source: net/ipv4/tcp_ipv4.c, get_tcp4_sock. Pure.
 */
export function unacceptedIn(text: string, ports: ReadonlySet<number>): number {
  const own = socketsIn(text).filter(({ port }) => ports.has(port));
  return own.reduce((sum, { state, remote, received }) => {
    if (state === LISTENING) return sum + received;
    return state === OPENING && !LOOPBACK.test(remote) ? sum + 1 : sum;
  }, 0);
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
function socketsIn(text: string): Socket[] {
  return text.split("\n").flatMap((line): Socket[] => {
    const [, local = "", remote = "", state, queues = ""] = line.trim().split(/\s+/);
    const [port, received] = [local, queues].map((pair) => Number.parseInt(pair.split(":")[1] ?? "", 16));
    if (state === undefined || Number.isNaN(port) || Number.isNaN(received)) return [];
    return [{ port: port!, remote: remote.split(":")[0]!, state, received: received! }];
  });
}
