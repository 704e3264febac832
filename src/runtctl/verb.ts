/** Defines one verb of the command line. Help, manual page and completion come from the same definition. */
import type { Command } from "commander";
import type { Session } from "./session.ts";

export interface Verb<Options = unknown> {
  readonly name: string;
  /** Summary for lists of verbs: a phrase. */
  readonly summary: string;
  /** Paragraphs for help and manual page. */
  readonly description?: readonly string[];
  /** Command lines without "runtctl", each with an explanation. */
  readonly examples?: readonly (readonly [line: string, what: string])[];
  /**
   * For a verb that passes a program and its arguments on: how many operands come before the program. Options behind the program are the program's, also without --.
   * @param given names of the options before it, such as "image"
   */
  readonly operandsBefore?: (given: ReadonlySet<string>) => number;
  /** Defines arguments and options. */
  define(command: Command): void;
  /** Returns the exit status. @throws UsageError, ClientError, and errors of node:fs */
  run(session: Session, operands: readonly string[], options: Options): Promise<number>;
}

/** Checks the types of the options and returns the verb without them, as an entry of the table. */
export function verb<Options = Record<never, never>>(definition: Verb<Options>): Verb {
  return definition as Verb;
}
