import { HOST } from "./host.ts";
import { machineIsolation } from "./machine.ts";
import type { IsolatedRecord, Isolation } from "./types.ts";

export type { IsolatedRecord, Isolation, ProcessRequest, UpdateRequest } from "./types.ts";

/** What to do with a container, by where its record says that it runs. */
export function isolationOf(record: IsolatedRecord): Isolation {
  return record.machine ? machineIsolation(record, record.machine) : HOST;
}
