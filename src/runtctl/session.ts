/** What every verb is given. */
import type { Client } from "./client.ts";

export interface Session {
  readonly client: Client;
  /** Of the tasks that are named. */
  readonly group: string;
}
