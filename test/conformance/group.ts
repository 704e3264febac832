/** How requirements are written down: one call each, by the id of its group and number. */
import type { Context } from "./context.ts";

export type Level = "MUST" | "SHOULD" | "MAY";

/** Things that a host must have for a test. If one is missing, the test is skipped and names it. */
export type Need = "cgroup1" | "cgroup2" | "CAP_SYS_RESOURCE" | "apparmor" | "selinux" | "swap" | "numa";

export interface Options {
  readonly needs?: readonly Need[];
  /** The project's decision, where the specification leaves room or other runtimes differ. */
  readonly note?: string;
  /** Changes something all containers share (a host's device, a limit of the machine): never beside another one. */
  readonly alone?: true;
}

export interface Item extends Options {
  readonly id: string;
  readonly level: Level;
  /** The requirement, in one sentence. */
  readonly text: string;
  /** Throws when the requirement does not hold. Absent: it cannot be observed. */
  readonly test?: (context: Context) => Promise<void>;
  /** Why there is no test. */
  readonly reason?: string;
}

export interface Group {
  readonly prefix: string;
  readonly title: string;
  readonly items: readonly Item[];
}

type Define = (number: number, text: string, test: (context: Context) => Promise<void>, options?: Options) => void;

export interface Levels {
  readonly must: Define;
  readonly should: Define;
  readonly may: Define;
  readonly unobservable: (number: number, level: Level, text: string, reason: string) => void;
}

/** Collects the items of one group. `define` receives functions that add one each. */
export function group(prefix: string, title: string, define: (levels: Levels) => void): Group {
  const items: Item[] = [];
  const id = (number: number) => `${prefix}-${String(number).padStart(2, "0")}`;
  const add =
    (level: Level): Define =>
    (number, text, test, options = {}) =>
      items.push({ id: id(number), level, text, test, ...options });
  define({
    must: add("MUST"),
    should: add("SHOULD"),
    may: add("MAY"),
    unobservable: (number, level, text, reason) => items.push({ id: id(number), level, text, reason }),
  });
  return { prefix, title, items };
}
