/** The state of a container as `state` and `list` print it (runtime.md#state, with runc's extra fields and order). */
import { RuntError } from "../errors/index.ts";
import { listIds, readSummary, type StateSummary } from "../state/index.ts";
import type { RuntimeOptions } from "./options.ts";
import { deriveStatus, type Status } from "./status.ts";

export interface ContainerState {
  readonly ociVersion: string;
  readonly id: string;
  /** 0 when stopped. */
  readonly pid: number;
  readonly status: Status;
  readonly bundle: string;
  readonly rootfs: string;
  readonly created: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly owner: string;
}

export function describe(options: RuntimeOptions, id: string): ContainerState {
  return toState(options, readSummary(options.root, id));
}

function toState(options: RuntimeOptions, record: StateSummary, owner = ""): ContainerState {
  const status = deriveStatus(options.root, record);
  return {
    ociVersion: record.ociVersion,
    id: record.id,
    pid: status === "stopped" ? 0 : record.pid,
    status,
    bundle: record.bundle,
    rootfs: record.rootfs,
    created: record.created,
    ...(Object.keys(record.annotations).length === 0 ? {} : { annotations: record.annotations }),
    owner,
  };
}

/** A row of `list`: a state, or an id whose record cannot be read. */
export type ListRow = { readonly state: ContainerState } | { readonly id: string; readonly unreadable: string };

export function list(options: RuntimeOptions, ownerName: (uid: number) => string): ListRow[] {
  const rows: ListRow[] = [];
  for (const id of listIds(options.root)) {
    try {
      const record = readSummary(options.root, id);
      rows.push({ state: toState(options, record, ownerName(record.owner)) });
    } catch (error) {
      if (!(error instanceof RuntError)) throw error;
      // Deleted between the listing and the reading.
      if (error.code !== "id-unknown") rows.push({ id, unreadable: error.message });
    }
  }
  return rows;
}
