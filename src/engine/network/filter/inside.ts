/** Rules in the namespace of a task, for whichever packet filter writes them. Pure. */
import type { ReachedService, TaskRules } from "../../plan/index.ts";
import { dotted, rangeOf } from "../../spec/index.ts";

/** Renders rules as the input of a program that makes all of it in one transaction, and takes the place of what was there. */
export interface InsideRules {
  /** The program, which gets the rules by its standard input. */
  readonly program: readonly string[];
  /**
   * A packet to the resolver's address leaves loopback, and its answer comes back to it. For that the kernel takes addresses of loopback at all interfaces (route_localnet), so that others of
   * the network could send to what listens on loopback of the task: the first rules keep them away as the kernel does without it. @param host address at which the resolver listens
   */
  resolver(host: string): string;
  task(rules: TaskRules): string;
  services(all: readonly ReachedService[]): string;
}

/** A range as packet filters print it, with its first address, so that it also matches where a program compares the address as it is written. */
export function asMatched(range: string): string {
  const found = rangeOf(range)!;
  return `${dotted(found.first)}/${range.split("/")[1] ?? 32}`;
}
