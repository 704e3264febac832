/** The context of every verb. */

import type { Sockets } from "../client/protocol/index.ts";
import type { Client } from "./client.ts";

export interface Session {
  readonly client: Client;
  readonly sockets: Sockets;
  /** The group of the tasks that the user names. */
  readonly group: string;
  /** The group, if the user has named one. */
  readonly givenGroup?: string | undefined;
}

/** Group of tasks for which no group is named. */
export const DEFAULT_GROUP = "default";
