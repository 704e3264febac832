/** Tells the options of a verb from those of a program that it passes on. */
import type { Command, Option } from "commander";
import type { Verb } from "./verb.ts";

/**
 * Puts -- before the program that a verb passes on, as if the user had written it: in `exec web ls -l` the option belongs to ls. Words that have -- already, or name no program, stay
 * as they are.
 * @param program with the command of the verb
 */
export function separated(words: readonly string[], program: Command, { name, operandsBefore }: Verb): readonly string[] {
  const command = program.commands.find((one) => one.name() === name);
  if (operandsBefore === undefined || command === undefined) return words;
  const options = [...program.options, ...command.options];
  const given = new Set<string>();
  // The first operand is the verb.
  let operands = -1;
  for (let at = 0; at < words.length; at++) {
    const word = words[at]!;
    if (word === "--") return words;
    if (word.startsWith("-") && word !== "-") at += valuesBehind(word, options, given);
    else if (operands >= 0 && operands === operandsBefore(given)) return [...words.slice(0, at), "--", ...words.slice(at)];
    else operands++;
  }
  return words;
}

/** Number of the following words that are the value of an option in this word, which may have several: -it. Adds their names to `given`. */
function valuesBehind(word: string, options: readonly Option[], given: Set<string>): 0 | 1 {
  if (word.startsWith("--")) {
    const [long] = word.split("=", 1);
    const found = options.find((one) => one.long === long);
    if (found !== undefined) given.add(found.name());
    return found?.required && !word.includes("=") ? 1 : 0;
  }
  for (let at = 1; at < word.length; at++) {
    const found = options.find((one) => one.short === `-${word[at]}`);
    if (found === undefined) return 0;
    given.add(found.name());
    // The rest of the word is the value, if there is one.
    if (found.required) return at === word.length - 1 ? 1 : 0;
  }
  return 0;
}
