/** One verb of the command line. Help, manual page and completion are made of the same definition. */
import type { Command } from "commander";
import type { Session } from "./session.ts";

export interface Verb<Options = unknown> {
  readonly name: string;
  /** For lists of verbs: a phrase. */
  readonly summary: string;
  /** Paragraphs for its help and the manual. */
  readonly description?: readonly string[];
  /** Command lines without "runtctl", each with what it does. */
  readonly examples?: readonly (readonly [line: string, what: string])[];
  /** Its arguments and options. */
  define(command: Command): void;
  /** Returns the exit status. @throws UsageError, ClientError; what node:fs throws */
  run(session: Session, operands: readonly string[], options: Options): Promise<number>;
}

/** The types of its options are checked here; a table of verbs holds them without. */
export function verb<Options = Record<never, never>>(definition: Verb<Options>): Verb {
  return definition as Verb;
}
