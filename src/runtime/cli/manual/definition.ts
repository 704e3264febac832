/** What a manual says of a verb beyond the table. */
import type { VerbName } from "../table/index.ts";

export interface VerbManual {
  /** Paragraphs: what it does, what it needs, what it leaves behind. */
  readonly description: readonly string[];
  /** Whole command lines; a line that begins with "# " explains the next one. */
  readonly examples: readonly string[];
  /** Beyond 0 and 1: the status, or what it is, and its meaning. */
  readonly exitStatus?: readonly (readonly [string, string])[];
  readonly seeAlso?: readonly VerbName[];
}
