import { createServer, type Server, type Socket } from "node:net";
import { EXIT, UsageError } from "../errors.ts";
import { forwardConnection } from "../forward.ts";
import { upgraded } from "../streams.ts";
import { inTask, taskOf } from "../tasks.ts";
import { verb } from "../verb.ts";

interface Options {
  readonly address: string;
  readonly container?: string;
}

export const portForward = verb<Options>({
  name: "port-forward",
  summary: "forward ports of this host to ports in the network of a task",
  description: [
    "Each connection to a local port begins anew in the network of the task, on its loopback: also where the task has no port of the host, and no way out. Only TCP.",
    "It runs until ^C, SIGTERM, or the end of the daemon. A connection that cannot be made is told on stderr, and the others go on.",
  ],
  examples: [
    ["port-forward web 8080:80", "localhost:8080 is port 80 of the task web"],
    ["port-forward web :80", "a free local port, which is printed"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .argument("<port...>", "PORT, LOCAL:PORT, or :PORT for a free one")
      .option("--address <address>", "address of this host to listen on", "127.0.0.1")
      .option("-c, --container <name>", "container whose network is used, if each has its own"),
  async run(session, [name = "", ...texts], { address, container }) {
    const ports = texts.map(portsOf);
    const { id } = await taskOf(session, name);
    const servers: Server[] = [];
    const connections = new Set<Socket>();
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
          void forwardConnection(socket, () => upgraded(session.sockets, path)).catch((error) =>
            console.error(`port ${remote}: ${(error as Error).message}`),
          );
        });
        servers.push(server);
        const at = await listening(server, local, address);
        console.log(`${address.includes(":") ? `[${address}]` : address}:${at} -> ${remote}`);
      }
      await left;
      return EXIT.done;
    } finally {
      for (const server of servers) server.close();
      for (const socket of connections) socket.destroy();
      process.off("SIGINT", leave).off("SIGTERM", leave);
    }
  },
});

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
