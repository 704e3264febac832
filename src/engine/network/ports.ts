/** Checks whether another program listens on a port of the host. */
import { createSocket } from "node:dgram";
import { createServer } from "node:net";
import { type HostPort, portName } from "../plan/index.ts";
import { NetworkError } from "./errors.ts";

/** @throws NetworkError port-taken */
export async function checkPort(port: HostPort): Promise<void> {
  try {
    await (port.protocol === "tcp" ? listen(port) : bind(port));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EADDRINUSE")
      throw new NetworkError("port-taken", `the port ${portName(port)} of the host is taken by a program that is not of this engine`, {
        cause: error,
      });
    throw new NetworkError("port-taken", `the port ${portName(port)} of the host cannot be used: ${code}`, { cause: error });
  }
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
