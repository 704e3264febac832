/** `runtctl port-forward`: local ports. */
import { createServer, type Server, type Socket } from "node:net";
import { EXIT, UsageError } from "../errors.ts";
import { print, printError } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { inTask, taskOf } from "../tasks.ts";
import { forwardConnection } from "./forward.ts";
import { upgraded } from "./streams.ts";

export interface ForwardOptions {
  readonly address: string;
  readonly container?: string;
}

/** Returns the exit status. @throws UsageError, ClientError */
export async function forwardPorts(
  session: Session,
  name: string,
  texts: readonly string[],
  { address, container }: ForwardOptions,
): Promise<number> {
  const ports = texts.map(portsOf);
  const { id } = await taskOf(session, name);
  const servers: Server[] = [];
  const connections = new Set<Socket>();
  const pending = new AbortController();
  let leave = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  process.once("SIGINT", leave).once("SIGTERM", leave);
  try {
    for (const { local, remote } of ports) {
      const path = inTask(session, id, "forward", { port: String(remote), container });
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        connections.add(socket);
        socket.once("close", () => connections.delete(socket));
        void forwardConnection(socket, () => upgraded(session.sockets, path, pending.signal)).catch((error) => {
          if (!pending.signal.aborted) printError(`port ${remote}: ${(error as Error).message}`);
        });
      });
      servers.push(server);
      const at = await listening(server, local, address);
      print(`${address.includes(":") ? `[${address}]` : address}:${at} -> ${remote}`);
    }
    await left;
    return EXIT.done;
  } finally {
    pending.abort();
    for (const server of servers) server.close();
    for (const socket of connections) socket.destroy();
    process.off("SIGINT", leave).off("SIGTERM", leave);
  }
}

/** @throws UsageError */
function portsOf(text: string): { readonly local: number; readonly remote: number } {
  const [, local, remote] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const numbers = { local: Number(local ?? remote), remote: Number(remote) };
  if (remote === undefined || numbers.remote < 1 || Math.max(numbers.local, numbers.remote) > 65_535)
    throw new UsageError(`${text}: use PORT, LOCAL:PORT or :PORT`);
  return numbers;
}

/** Returns the port on which the server listens. @throws Error: the port is taken */
function listening(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => resolve((server.address() as { port: number }).port));
  });
}
