import { failureIn } from "../../client/protocol/index.ts";
import { FRAME, FrameReader, frameOf } from "../../shared/frames/index.ts";
import { ClientError } from "../client.ts";
import { EXIT, UsageError } from "../errors.ts";
import { type Connection, listenAt, onSignals, print, printError } from "../platform/index.ts";
import type { Session } from "../session.ts";
import { upgraded } from "../streams/streams.ts";
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
    "For each connection to a local port, the daemon opens a connection to the loopback address in the network of the task. This works even if the task publishes no port and has no access to other networks. Only TCP is supported.",
    "port-forward runs until ^C, SIGTERM, or the end of the daemon. If a connection fails, it prints the error on stderr, and the other connections go on.",
  ],
  examples: [
    ["port-forward web 8080:80", "forward localhost:8080 to port 80 of the task web"],
    ["port-forward web :80", "forward a free local port, and print its number"],
  ],
  define: (command) =>
    command
      .argument("<name>", "of a task")
      .argument("<port...>", "PORT, LOCAL:PORT, or :PORT for a free one")
      .option("--address <address>", "address of this host to listen on", "127.0.0.1")
      .option("-c, --container <name>", "container whose network to use, if each has its own"),
  run: (session, [name = "", ...ports], options) => forwardPorts(session, name, ports, options),
});

/** Returns the exit status. The connections end with the program. @throws UsageError, ClientError, and errors of listenAt */
async function forwardPorts(session: Session, name: string, texts: readonly string[], { address, container }: Options): Promise<number> {
  const ports = texts.map(portsOf);
  const { id } = await taskOf(session, name);
  const left = new Promise<void>((resolve) => onSignals(["SIGINT", "SIGTERM"], () => resolve()));
  for (const { local, remote } of ports) {
    const path = inTask(session, id, "forward", { port: String(remote), container });
    const { port } = listenAt(address, local, (connection) => {
      forwardConnection(connection, () => upgraded(session.sockets, path)).catch((error) =>
        printError(`port ${remote}: ${(error as Error).message}`),
      );
    });
    print(`${address.includes(":") ? `[${address}]` : address}:${port} -> ${remote}`);
  }
  await left;
  return EXIT.done;
}

/** @throws UsageError */
function portsOf(text: string): { readonly local: number; readonly remote: number } {
  const [, local, remote] = /^(?:(\d{0,5}):)?(\d{1,5})$/.exec(text) ?? [];
  const numbers = { local: Number(local ?? remote), remote: Number(remote) };
  if (remote === undefined || numbers.remote < 1 || Math.max(numbers.local, numbers.remote) > 65_535)
    throw new UsageError(`${text}: use PORT, LOCAL:PORT or :PORT`);
  return numbers;
}

/** Returns when the connection has ended; `local` is closed then. @throws ClientError: the connection could not be made, or was lost */
async function forwardConnection(local: Connection, connect: () => Promise<Connection>): Promise<void> {
  let remote: Connection | undefined;
  try {
    remote = await connect();
    const sent = sendAll(local, remote);
    await receiveAll(local, remote);
    local.endSending();
    await sent;
  } finally {
    remote?.close();
    local.close();
  }
}

/** Returns when the client sends nothing more. If the client has disconnected, both connections are closed without an error message. */
async function sendAll(local: Connection, remote: Connection): Promise<void> {
  for (let chunk = await local.receive(); chunk !== undefined; chunk = await local.receive())
    await remote.send(frameOf(FRAME.stdin, chunk));
  if (local.isReset) {
    local.close();
    remote.close();
  }
  await remote.send(frameOf(FRAME.stdinEnd, new Uint8Array(0)));
}

/** Returns when the port sends nothing more, or the client has disconnected. @throws ClientError */
async function receiveAll(local: Connection, remote: Connection): Promise<void> {
  const reader = new FrameReader();
  for (;;) {
    const chunk = await remote.receive();
    if (chunk === undefined && !local.isOpen) return;
    if (chunk === undefined) throw new ClientError("stream-broken", "the daemon has gone away");
    for (const { kind, payload } of reader.push(chunk)) {
      if (kind === FRAME.stdout) await local.send(payload);
      else if (kind === FRAME.end) return;
      else if (kind === FRAME.failed) {
        const { code, message } = failureIn(payload);
        throw new ClientError(code, message);
      }
    }
  }
}
