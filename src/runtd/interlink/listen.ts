/** Listens for interLink: on a unix socket, or on an address with a token. */
import type { Server } from "node:http";
import { join } from "node:path";
import { listenOn, type RemoveSocket } from "../sockets.ts";
import type { InterlinkConfiguration } from "./config.ts";

export interface InterlinkPlace {
  /** Path or address, for the log. */
  readonly place: string;
  readonly remove: RemoveSocket;
}

/** @throws SocketInUseError; the error of listen(2) */
export async function listenForInterlink(server: Server, { listen }: InterlinkConfiguration, runDir: string): Promise<InterlinkPlace> {
  if (listen === undefined) {
    const place = join(runDir, "interlink.sock");
    return { place, remove: await listenOn(server, { path: place, mode: 0o600, group: undefined }) };
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen.port, listen.address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return { place: `${listen.address}:${listen.port}`, remove: () => {} };
}
