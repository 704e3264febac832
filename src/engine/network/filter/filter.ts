/** What the packet filter of the host does for tasks, as data, and what each of its drivers can do with it. */
import type { PortForward } from "../../plan/index.ts";
import type { Attachment } from "../attachments.ts";

/** One interface of a task that is behind a bridge and has a way out. */
export interface TaskWays {
  /** Name of the network. */
  readonly network: string;
  readonly bridge: string;
  /** Address of the task with the length of the network's prefix, such as "10.64.0.2/20". */
  readonly range: string;
  /** Ports of the host that lead to it. */
  readonly ports: readonly PortForward[];
}

/** An interface of the host that is attached to a bridge and leads to a task. */
export interface BridgePort {
  /** Name of the interface on the host. */
  readonly port: string;
  /** Of the task's interface, in lower case. */
  readonly mac: string;
  /** Of IPv4, without the length of the prefix. */
  readonly addresses: readonly string[];
  /** Whether the task answers in the name of others: it is a transparent proxy. */
  readonly isRelay: boolean;
}

/** What a task has on the host. */
export interface TaskHolds {
  readonly ways: readonly TaskWays[];
  readonly ports: readonly BridgePort[];
}

export interface GuardedBridge {
  readonly bridge: string;
  readonly network: string;
  /** For example "10.64.0.0/20"; undefined if the records of the tasks do not name it. */
  readonly subnet?: string | undefined;
  /** Addresses of tasks that may reach the metadata of the host's cloud. */
  readonly reaching: readonly string[];
  /** Address at which the resolver listens for tasks of this bridge alone, and for the host. */
  readonly host?: string | undefined;
  /** Whether no task of it has a way out. */
  readonly isInternal?: boolean;
}

/** A task that serves. */
export interface Backend {
  /** Id of the task. */
  readonly task: string;
  /** With the length of the prefix of its network, such as "10.64.0.2/20". */
  readonly address: string;
  readonly port: number;
}

export interface ServicePort {
  readonly host: number;
  readonly protocol: "tcp" | "udp";
  /** Address of the host; undefined: all of them. */
  readonly address: string | undefined;
  /** Whether a client always reaches the same task, as long as that serves. */
  readonly sticky: boolean;
  readonly to: readonly Backend[];
}

/** The drivers. */
export type FilterKind = "nft" | "iptables";

/** What is known when the engine starts. */
export interface KnownToFilter {
  /** Networks that are complete, and were made in this boot. */
  readonly attachments: readonly Attachment[];
  readonly bridges: readonly GuardedBridge[];
  /** Whether a task may have a network, also if its attachment is lost. */
  readonly isKnown: (id: string) => boolean;
  /** Bridges by which no task has an address. */
  readonly unleased: readonly string[];
  /** Keeps an attachment whose rules are in another form now. @throws the errors of the system calls */
  readonly write: (attachment: Attachment) => void;
}

/** Every method may be repeated. All throw NetworkError program-missing or program-failed. */
export interface PacketFilter {
  /** Writes the rules of bridges, before a task can send by them. */
  guard(bridges: readonly GuardedBridge[]): Promise<void>;
  /** A bridge is gone. */
  unguard(bridge: string): Promise<void>;
  /** From now on the task sends only in its own name. Returns what the attachment of the task keeps of its ways. */
  open(id: string, holds: TaskHolds): Promise<Pick<Attachment, "nat" | "filter">>;
  close(attachment: Attachment): Promise<void>;
  /** Removes the rules of a task without an attachment. */
  sweep(task: string): Promise<void>;
  /** Ports of services: what is given takes the place of what was there, in one transaction. */
  serve(ports: readonly ServicePort[]): Promise<void>;
  /** @throws also: rules of this task are missing */
  check(attachment: Attachment, bridges: readonly GuardedBridge[]): Promise<void>;
  /** Writes again what another program has removed or changed. Returns what that was; undefined: nothing. */
  look(known: () => Pick<KnownToFilter, "attachments" | "bridges">): Promise<string | undefined>;
  /** From now on calls this when another program has perhaps changed something, so that `look` is to be called. Returns what ends that. */
  watch(onChanged: () => void): () => void;
  /** Called once at the start: rules of the other form are taken over, and those that no task has are removed. */
  begin(known: KnownToFilter): Promise<void>;
}
