/** What every verb is given. */
import type { Client } from "./client.ts";
import type { Sockets } from "./sockets.ts";

export interface Session {
  readonly client: Client;
  readonly sockets: Sockets;
  /** Of the tasks that are named. */
  readonly group: string;
}
