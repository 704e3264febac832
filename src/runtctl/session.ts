/** The context of every verb. */
import type { Client } from "./client.ts";
import type { Sockets } from "./sockets.ts";

export interface Session {
  readonly client: Client;
  readonly sockets: Sockets;
  /** The group of the tasks that the user names. */
  readonly group: string;
  /** The same, if the user has named it. */
  readonly givenGroup?: string | undefined;
}

/** Of tasks for which no group is named. */
export const DEFAULT_GROUP = "default";
