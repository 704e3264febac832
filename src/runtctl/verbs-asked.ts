/** Finds out which verbs a command line needs. */
import type { Verb } from "./verb.ts";
import { VERBS } from "./verbs/index.ts";

/** Global options with a value, which may be before the verb. */
const WITH_VALUE: ReadonlySet<string> = new Set(["-s", "--socket", "--run-dir", "-g", "--group"]);
/** Verbs that need the definitions of all others. */
const NEEDS_ALL: ReadonlySet<string> = new Set(["completion", "help"]);

/** The verb that the command line names. All verbs if it names none, for the help and for suggestions. */
export function verbsAsked(words: readonly string[]): readonly Verb[] {
  const name = verbIn(words);
  const found = name === undefined || NEEDS_ALL.has(name) ? undefined : VERBS.find((entry) => entry.name === name);
  return found === undefined ? VERBS : [found];
}

function verbIn([word, ...others]: readonly string[]): string | undefined {
  if (word === undefined || !word.startsWith("-")) return word;
  return verbIn(WITH_VALUE.has(word) ? others.slice(1) : others);
}
