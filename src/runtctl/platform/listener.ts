/** Listens on local ports. */
import { accept, listen, localPort, strerror } from "runt:client";
import { Connection } from "./connection.ts";
import { POLL, sleep, until } from "./loop.ts";

export interface Listener {
  /** The port on which it listens. */
  readonly port: number;
}

/** Texts of errors that differ from those of the C library. */
const TEXTS: Readonly<Record<string, string>> = { EADDRNOTAVAIL: "address not available" };
/** Milliseconds to wait after accept(2) has failed, for example for lack of descriptors. */
const PAUSE_MS = 100;

/** Calls `connected` with each connection until the program ends. @param port 0: any free port. @throws Error with a code */
export function listenAt(address: string, port: number, connected: (connection: Connection) => void): Listener {
  const fd = listenOn(address, port);
  void (async () => {
    for (;;) {
      await until(fd, POLL.in);
      const one = acceptOne(fd);
      if (one !== undefined) connected(new Connection(one));
      else await sleep(PAUSE_MS);
    }
  })();
  return { port: localPort(fd) };
}

function acceptOne(fd: number): number | undefined {
  try {
    return accept(fd);
  } catch {
    return undefined;
  }
}

function listenOn(address: string, port: number): number {
  try {
    return listen(address, port);
  } catch (error) {
    const { errno, code, syscall } = error as { errno: number; code: string; syscall: string };
    if (syscall === "getaddrinfo") throw Object.assign(new Error(`getaddrinfo ENOTFOUND ${address}`), { code: "ENOTFOUND" });
    throw Object.assign(new Error(`listen ${code}: ${TEXTS[code] ?? strerror(errno)} ${address}:${port}`), { code });
  }
}
