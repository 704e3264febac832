/** Connections of TCP that a task has accepted, as the kernel lists them for its network namespace. */
import { output } from "./command.ts";

/** Numbers of the states in which the client still expects something. Source: include/net/tcp_states.h. */
const OPEN = new Set(["01", "03", "08"]);
const LOOPBACK = /^(?:[0-9A-F]{6}7F|0000000000000000FFFF0000[0-9A-F]{6}7F|00000000000000000000000001000000)$/;

/** Counts connections to ports of a task that have not ended. Those of its own containers by loopback do not count. @throws NetworkError program-missing, program-failed */
export async function connectionsTo(namespace: string, ports: ReadonlySet<number>, timeoutMs: number): Promise<number> {
  return countIn(await output("nsenter", [`--net=${namespace}`, "cat", "/proc/net/tcp", "/proc/net/tcp6"], timeoutMs), ports);
}

/** Source: proc_net_tcp.txt of the kernel: local address, remote address and state are the second to fourth field, in hexadecimal. Pure. */
export function countIn(text: string, ports: ReadonlySet<number>): number {
  return text.split("\n").filter((line) => {
    const [, local = "", remote = "", state = ""] = line.trim().split(/\s+/);
    const port = Number.parseInt(local.split(":")[1] ?? "", 16);
    return OPEN.has(state) && ports.has(port) && !LOOPBACK.test(remote.split(":")[0]!);
  }).length;
}
