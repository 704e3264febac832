/** All containers below a root, one after the other: what is known of thousands is not kept. */
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import { listIds, peek, readSummary, type StateSummary } from "../state/index.ts";
import type { RuntimeOptions } from "./options.ts";
import { deriveStatus, type Status } from "./status.ts";

export interface ListVisitor {
  /** The record is that of the next container afterwards. */
  container(record: StateSummary, status: Status): void;
  /** Its record cannot be read. */
  unreadable(id: string, why: string): void;
}

/** In the order of the ids. One that is deleted meanwhile is left out. */
export function list({ root }: RuntimeOptions, visitor: ListVisitor): void {
  const ids = listIds(root);
  if (ids.length === 0) return;
  const directory = host.open(root, host.O.RDONLY | host.O.DIRECTORY);
  const directoryOf = `${root}/`;
  let peeked: StateSummary | undefined;
  for (let index = 0; index < ids.length; index++) {
    const id = ids[index] as string;
    try {
      try {
        peeked = peek(id + RECORD, directory, peeked);
      } catch {
        // Whatever is wrong, the other way of reading says it.
        peeked = undefined;
      }
      const record = peeked ?? readSummary(root, id);
      // The id of a record that is not its own may be anything: that is looked at.
      visitor.container(record, deriveStatus(root, record, false, record.id === id ? directoryOf + id : undefined));
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      if (error.code !== "id-unknown") visitor.unreadable(id, error.message);
    }
  }
  host.close(directory);
}

const RECORD = "/state.json";
