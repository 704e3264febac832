/** Checks whether another program listens on a port of the host. */
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { type HostPort, portName } from "../plan/index.ts";
import { NetworkError } from "./errors.ts";
import { holderOf } from "./port-holder.ts";

/** @throws NetworkError port-taken */
export async function checkPort(port: HostPort): Promise<void> {
  try {
    await (port.protocol === "tcp" ? listen(port) : bind(port));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new NetworkError(
        "port-taken",
        `the port ${portName(port)} of the host is taken by a program that is not of this engine${await named(port)}`,
        { cause: error },
      );
    throw new NetworkError("port-taken", `the port ${portName(port)} of the host cannot be used: ${code}`, { cause: error });
  }
}

/** ": NAME (pid N)"; empty if nobody is found, because it has ended, or is in another namespace of processes. */
async function named(port: HostPort): Promise<string> {
  const holder = await holderOf(port).catch(() => undefined);
  return holder === undefined ? "" : `: ${holder.name} (pid ${holder.pid})`;
}

const ANY = "0.0.0.0";

function listen({ port, address = ANY }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", reject);
    server.listen({ port, host: address, exclusive: true }, () => server.close(() => resolve()));
  });
}

function bind({ port, address = ANY }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = createSocket(address.includes(":") ? "udp6" : "udp4");
    socket.once("error", (error) => {
      socket.close();
      reject(error);
    });
    socket.bind({ port, address, exclusive: true }, () => socket.close(resolve));
  });
}
