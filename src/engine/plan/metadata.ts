/** The metadata file that describes a container to itself. Pure. */
import { specOf, type TaskRecord } from "../model/index.ts";

export interface Metadata {
  /** INITIAL until the container was started. Values that are known only afterwards are null until then. */
  readonly status: "INITIAL" | "READY";
  readonly task: { readonly id: string; readonly group: string; readonly name: string; readonly specDigest: string };
  readonly container: {
    readonly name: string;
    readonly id: string;
    /** Number of the incarnation, from 1. */
    readonly generation: number;
    /** RFC 3339. */
    readonly startedAt: string | null;
  };
  /** Addresses of the task's own network, with prefix lengths; empty: it has none. */
  readonly addresses: readonly string[];
  /** Host ports of the task. */
  readonly ports: readonly { readonly port: number; readonly protocol: "tcp" | "udp" }[];
}

export interface Incarnation {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

/** @param startedMs milliseconds since the epoch; undefined: not started yet */
export function metadataOf(
  { id, group, name, digest, spec, network }: TaskRecord,
  one: Incarnation,
  startedMs: number | undefined,
): Metadata {
  return {
    status: startedMs === undefined ? "INITIAL" : "READY",
    task: { id, group, name, specDigest: digest },
    container: {
      name: one.container,
      id: one.runtimeId,
      generation: one.generation,
      startedAt: startedMs === undefined ? null : new Date(startedMs).toISOString(),
    },
    addresses: network?.addresses ?? [],
    ports: spec.ports,
  };
}

export function wantsMetadata(record: TaskRecord, container: string): boolean {
  return specOf(record, container)?.metadata !== undefined;
}
