/** list: all containers below a root, one after the other. Nothing of a container is kept, because there may be thousands. */
import { awakeStates, isFrozenToShow } from "../cgroup/index.ts";
import { RuntError } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { RuntimeOptions } from "../prepare/index.ts";
import {
  deriveStatus,
  isSharedRoot,
  listIds,
  peek,
  readSummary,
  STATE_MINOR,
  STATE_SCHEMA,
  type StateSummary,
  type Status,
} from "../state/index.ts";

export interface ListVisitor {
  /** Given: `container` adds the row of host.addContainers, with this name of the owner; that may be done in its place. */
  ownerName?(uid: number): string;
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
  // Where others have directories beside them each is looked at.
  const isShared = isSharedRoot(root);
  const ownerName = isShared ? undefined : visitor.ownerName;
  const awake = awakeStates();
  let peeked: StateSummary | undefined;
  for (let index = 0; ; index++) {
    if (ownerName) index = host.addContainers(directory, ids, index, STATE_SCHEMA, STATE_MINOR, awake, ownerName);
    if (index >= ids.length) break;
    const id = ids[index] as string;
    try {
      try {
        peeked = isShared ? undefined : peek(id + RECORD, directory, peeked);
        // A copy under another name is an error.
        if (peeked?.id !== id) peeked = undefined;
      } catch {
        // Whatever is wrong, the other way of reading says it.
        peeked = undefined;
      }
      const record = peeked ?? readSummary(root, id);
      visitor.container(record, deriveStatus(root, record, false, directoryOf + id, isFrozenToShow));
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      if (error.code !== "id-unknown") visitor.unreadable(id, error.message);
    }
  }
  host.close(directory);
}

const RECORD = "/state.json";
