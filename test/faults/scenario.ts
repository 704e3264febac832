/** A verb that a fault interrupts, and what exists before it. */
import type { Config } from "../support/config.ts";

/**
 * Started for every case: a program that takes a terminal (console), a network namespace that is joined with a device to be moved (devices), and
 * whoever acts on the same things in the meantime (actors.ts).
 */
export type Company =
  | "console"
  | "devices"
  | "visitor"
  | "old-monitor"
  | "stopped-runtime"
  | "stopped-create"
  | "stopped-init"
  | "hanging-start";

export interface Scenario {
  readonly name: string;
  /** Verb and arguments; "ID" stands for the container's id. */
  readonly verb: readonly string[];
  /** Verbs that the product executes before. */
  readonly before?: readonly (readonly string[])[];
  /** A hook kills the product then. */
  readonly orphaned?: true;
  readonly config?: (config: Config, world: ConfigWorld) => void;
  /** Of the root file system; 0 = root. */
  readonly owner?: number;
  readonly needs?: Company;
  /** No filter has been compiled before. */
  readonly cold?: true;
  /** The container has ended before. */
  readonly stopped?: true;
  /** Whatever becomes of the verb, the container runs on (or stays paused), with its init alone. */
  readonly survives?: "running" | "paused";
  /** How the container is after a verb that says that it succeeded. */
  readonly gives?: "stopped" | "gone";
  /** It fails by itself, so that the faults strike what takes it back. */
  readonly fails?: true;
  /** A failed verb leaves no container behind, without any delete. */
  readonly undoes?: true;
  /** The process of the verb becomes the monitor: what fails behind `commit` is told by its status alone. */
  readonly foreground?: true;
  /** Functions without faults: how often they are called depends on what else there is on the host (RUNT_FAULT_UNCOUNTED). */
  readonly uncounted?: string;
  /** It waits for a second, or up to its documented bound: `make test` leaves it out. */
  readonly slow?: true;
}

export interface ConfigWorld {
  readonly volume: string;
  /** File of the network namespace of "devices". */
  readonly netns: string;
}
