/** The metadata file that describes a container to itself. Pure. */
import { specOf, type TaskRecord } from "../model/index.ts";
import type { TaskSpec } from "../spec/index.ts";

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
  /** Host ports on which the task listens, or that are forwarded to a port of its network. `port` is the host's port. */
  readonly ports: readonly MetadataPort[];
  /** null: its root file system does not come from an image. */
  readonly image: { readonly reference: string; readonly digest: string } | null;
  /** Limits of the container and of the task. An absent limit means unlimited. */
  readonly limits: { readonly container: MetadataLimits; readonly task: MetadataLimits };
}

export interface MetadataPort {
  readonly port: number;
  readonly protocol: "tcp" | "udp";
  /** Port in the task's network; absent: the task uses the host's. */
  readonly containerPort?: number;
  /** Address of the host; absent: all. */
  readonly address?: string;
}

export interface MetadataLimits {
  readonly cpus?: number;
  /** In bytes. */
  readonly memory?: number;
  readonly pids?: number;
}

export interface Incarnation {
  readonly container: string;
  readonly generation: number;
  readonly runtimeId: string;
}

/** @param startedMs milliseconds since the epoch; undefined: not started yet */
export function metadataOf(record: TaskRecord, one: Incarnation, startedMs: number | undefined): Metadata {
  const { id, group, name, digest, spec, network, containers } = record;
  const image = containers.find((container) => container.name === one.container)?.image;
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
    ports: [...spec.ports, ...mappedPorts(spec)],
    image: image ? { reference: image.reference, digest: image.digest } : null,
    limits: { container: limitsIn(specOf(record, one.container) ?? {}), task: limitsIn(spec) },
  };
}

export function wantsMetadata(record: TaskRecord, container: string): boolean {
  return specOf(record, container)?.metadata !== undefined;
}

function mappedPorts({ network }: TaskSpec): MetadataPort[] {
  return (network?.ports ?? []).map(({ container, host = container, protocol, address }) => ({
    ...{ port: host, protocol, containerPort: container },
    ...(address === undefined ? {} : { address }),
  }));
}

function limitsIn({ cpus, memory, pids }: { [Limit in keyof MetadataLimits]?: MetadataLimits[Limit] | undefined }): MetadataLimits {
  return { ...(cpus === undefined ? {} : { cpus }), ...(memory === undefined ? {} : { memory }), ...(pids === undefined ? {} : { pids }) };
}
