/** A D-Bus service on a real socket: on a bus under a name, or as a peer that clients connect to directly (as systemd's own socket). */
import { connect, createServer, type Socket } from "node:net";
import {
  decodeMessage,
  encodeMessage,
  MESSAGE_TYPE,
  type Message,
  messageLength,
  readBody,
} from "../../src/runtime/cgroup/systemd/wire/message.ts";
import type { Value } from "../../src/runtime/cgroup/systemd/wire/types.ts";
import { encodeOutgoing, type Outgoing, type Received, received } from "./bus-outgoing.ts";

export type Answer = (call: Received) => readonly Outgoing[] | Promise<readonly Outgoing[]>;

export interface Service {
  close(): void;
}

/** Messages of a stream from `onMessage` on; bytes before the first one (the authentication) go to `onText` until it returns false. */
function readStream(socket: Socket, onText: (text: string) => boolean, onMessage: (message: Message) => void): void {
  let pending = Buffer.alloc(0);
  let talking = true;
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    pending = Buffer.concat([pending, bytes]);
    while (talking) {
      const end = pending.indexOf("\r\n");
      if (end === -1) return;
      const line = pending.subarray(0, end).toString();
      pending = pending.subarray(end + 2);
      talking = onText(line);
    }
    for (;;) {
      const length = messageLength(pending);
      if (length === undefined || pending.length < length) return;
      const message = decodeMessage(Uint8Array.from(pending.subarray(0, length)));
      pending = pending.subarray(length);
      onMessage(message);
    }
  });
}

function answerCalls(socket: Socket, answer: Answer): (message: Message) => void {
  let serial = 100;
  return (message) => {
    if (message.type !== MESSAGE_TYPE.call) return;
    void Promise.resolve(answer(received(message))).then((outgoing) => {
      for (const one of outgoing) socket.write(encodeOutgoing(one, ++serial, message));
    });
  };
}

/** Take a name on the bus at a socket. */
export async function joinBus(path: string, name: string, answer: Answer): Promise<Service> {
  const socket = connect({ path });
  const answers = new Map<number, (values: readonly Value[]) => void>();
  const onCall = answerCalls(socket, answer);
  readStream(
    socket,
    (line) => !line.startsWith("OK"),
    (message) => {
      if (message.type === MESSAGE_TYPE.reply) answers.get(message.replySerial ?? 0)?.(readBody(message));
      else onCall(message);
    },
  );
  const ask = (serial: number, member: string, signature?: string, values: readonly Value[] = []): Promise<readonly Value[]> => {
    const bus = { destination: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus" };
    socket.write(encodeMessage({ type: MESSAGE_TYPE.call, serial, ...bus, member, ...(signature ? { signature } : {}) }, values));
    return new Promise((done) => answers.set(serial, done));
  };
  socket.write("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n");
  await ask(1, "Hello");
  const [result] = await ask(2, "RequestName", "su", [name, 0]);
  if (result !== 1) throw new Error(`the name ${name} is taken`);
  return { close: () => socket.destroy() };
}

/** Listen for direct clients. */
export async function listenDirectly(path: string, answer: Answer): Promise<Service> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    readStream(
      socket,
      (line) => {
        if (line.endsWith("AUTH EXTERNAL")) socket.write("DATA\r\n");
        if (line === "DATA") socket.write("OK 0123456789abcdef0123456789abcdef\r\n");
        return line !== "BEGIN";
      },
      answerCalls(socket, answer),
    );
  });
  await new Promise<void>((done) => server.listen(path, done));
  return {
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
