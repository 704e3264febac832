/** Listens for interLink: on a unix socket, or on an address with a token. */
import type { Server } from "node:http";
import { join } from "node:path";
import { listenOn } from "../sockets.ts";
import type { InterlinkConfiguration } from "./config.ts";

/** Returns the path or address, for the log. @throws SocketInUseError; the error of listen(2) */
export async function listenForInterlink(server: Server, { listen }: InterlinkConfiguration, runDir: string): Promise<string> {
  if (listen === undefined) {
    const path = join(runDir, "interlink.sock");
    await listenOn(server, { path, mode: 0o600, group: undefined });
    return path;
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(listen.port, listen.address, () => {
      server.off("error", reject);
      resolve();
    });
  });
  return `${listen.address}:${listen.port}`;
}
