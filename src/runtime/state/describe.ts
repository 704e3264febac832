/** The state of a container as `state` and `list` print it (runtime.md#state, with runc's extra fields and order). */
import { isFrozenToShow } from "../cgroup/index.ts";
import type { StateSummary } from "./record.ts";
import { deriveStatus, type Status } from "./status.ts";
import { readSummary } from "./summary.ts";

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

/** @param root state root, absolute */
export function describe(root: string, id: string): ContainerState {
  const record = readSummary(root, id);
  return toState(record, deriveStatus(root, record, false, undefined, isFrozenToShow), "");
}

export function toState(record: StateSummary, status: Status, owner: string): ContainerState {
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
