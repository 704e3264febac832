/** What an attack is, and what came of it. */
import type { Subject } from "./subject.ts";

/** held: the attacker did not get what he wanted, by an error or because what he did had no effect. */
export type Outcome = { readonly held: boolean; readonly detail: string } | { readonly skipped: string };

interface Described {
  /** "CVE-2024-21626", with a word in brackets where one row needs several attacks: "CVE-2024-21626 (exec)". Unique. */
  readonly id: string;
  /** What the attacker tries. */
  readonly title: string;
  /** What stops him in runt, in one sentence. */
  readonly mechanism: string;
  readonly run: (subject: Subject) => Promise<Outcome>;
}

export type Attack = Described &
  (
    | {
        /** Names for RUNT_DISABLE_DEFENCES, separated by commas: without these defences the attack succeeds. */
        readonly defences: string;
      }
    | {
        readonly defences?: never;
        /** Why there is nothing to switch off. */
        readonly why: string;
      }
  );

export const held = (detail: string): Outcome => ({ held: true, detail });

export const escaped = (detail: string): Outcome => ({ held: false, detail });

/** held if the condition is true, with the same detail either way. */
export const heldIf = (condition: boolean, detail: string): Outcome => ({ held: condition, detail });

export const skipped = (reason: string): Outcome => ({ skipped: reason });
