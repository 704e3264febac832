/** The public view of a task: without its environment, and without anything that a reader may not know. Pure. */
import {
  type AgentRecord,
  agentsOf,
  type ContainerExit,
  type ContainerRecord,
  type HostCapacity,
  type ImageRecord,
  ledgerOf,
  overcommitments,
  renderReason,
  type TaskRecord,
} from "../model/index.ts";
import type { Paths } from "./paths.ts";

/** What a container is made from. */
export interface ImageView {
  /** As the task names it. */
  readonly reference: string;
  /** As its source names the content. */
  readonly digest: string;
  readonly via: ImageRecord["via"];
}

export interface ContainerView {
  readonly name: string;
  /** namespacePause: it holds the namespaces that the others share, and no task file names it. */
  readonly type: ContainerRecord["type"];
  readonly id: string;
  readonly generation: number;
  readonly desired: ContainerRecord["desired"];
  readonly known: ContainerRecord["known"];
  readonly restarts: number;
  /** Milliseconds since the epoch; null: not yet. */
  readonly startedMs: number | null;
  readonly stoppedMs: number | null;
  readonly exit: ContainerExit | null;
  readonly reason: string | null;
  /** Why it does not have the limits of its spec; null: it has them, or will soon. */
  readonly updateError: string | null;
  /** null: it has none, or it was not got yet. */
  readonly image: ImageView | null;
  /** Programs that run in it beside its own; those that were begun. */
  readonly agents: readonly AgentRecord[];
  /** File on the daemon's host. */
  readonly log: string;
}

export interface TaskView {
  readonly id: string;
  readonly group: string;
  readonly name: string;
  readonly generation: number;
  readonly digest: string;
  readonly desired: TaskRecord["desired"];
  readonly known: TaskRecord["known"];
  readonly admission: TaskRecord["admission"];
  /** What it waits for before it can begin; null when it does not wait. */
  readonly waiting: readonly string[] | null;
  readonly reason: string | null;
  readonly createdMs: number;
  /** When the first pull of an image has begun, and the last one has ended; null: none has. */
  readonly pulls: { readonly startedMs: number; readonly stoppedMs: number | null } | null;
  /** Id of the task in whose place it is. */
  readonly replaces: string | null;
  /** Of its own network, with the length of the prefix; the first is the one to reach it at. Empty: it has none, or not now. */
  readonly addresses: readonly string[];
  readonly containers: readonly ContainerView[];
}

/** What tasks have of the host. */
export interface LedgerView {
  readonly cpus: { readonly capacity: number; readonly used: number };
  readonly memoryBytes: { readonly capacity: number; readonly used: number };
  /** "8080/tcp" */
  readonly ports: readonly string[];
  /** Tasks that wait for room. */
  readonly waiting: number;
}

/** `overcommitted`: what is taken although the host does not have it, in words; "" when all is well. */
export function ledgerView(
  records: readonly TaskRecord[],
  configured: HostCapacity,
): { readonly ledger: LedgerView; readonly overcommitted: string } {
  const account = ledgerOf(records, configured);
  const { capacity, used } = account;
  return {
    ledger: {
      cpus: { capacity: capacity.cpuMillis / 1000, used: used.cpuMillis / 1000 },
      memoryBytes: { capacity: capacity.memoryBytes, used: used.memoryBytes },
      ports: used.ports,
      waiting: records.filter(({ waiting }) => waiting !== null).length,
    },
    overcommitted: overcommitments(account).join("; "),
  };
}

export function viewOf(record: TaskRecord, paths: Paths): TaskView {
  const { id, group, name, generation, digest, desired, known, admission, waiting, reason, createdAt } = record;
  return {
    ...{ id, group, name, generation, digest, desired, known, admission },
    waiting: waiting?.missing ?? null,
    reason: reason && renderReason(reason),
    createdMs: createdAt.wallMs,
    pulls: record.pulls && { startedMs: record.pulls.startedAt.wallMs, stoppedMs: record.pulls.stoppedAt?.wallMs ?? null },
    replaces: record.replaces?.task ?? null,
    addresses: record.network?.addresses ?? [],
    containers: record.containers.map((container) => ({
      name: container.name,
      type: container.type,
      id: container.runtimeId,
      generation: container.generation,
      desired: container.desired,
      known: container.known,
      restarts: container.restarts,
      startedMs: container.startedAt?.wallMs ?? null,
      stoppedMs: container.stoppedAt?.wallMs ?? null,
      exit: container.exit,
      reason: container.reason && renderReason(container.reason),
      updateError: container.update?.error ?? null,
      image: container.image && imageView(container.image),
      agents: agentsOf(container),
      log: paths.log(id, container.runtimeId),
    })),
  };
}

function imageView({ reference, digest, via }: ImageRecord): ImageView {
  return { reference, digest, via };
}
