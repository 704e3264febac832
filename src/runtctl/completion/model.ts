/** Computes the completions of each verb from the definition of the command line. */
import type { Command, Option } from "commander";

export interface Offer {
  /** The spellings of the option, such as "--follow" and "-f". */
  readonly words: readonly string[];
  /** The value of the option: none, a file, one of these words, or any text. */
  readonly value: "none" | "file" | "any" | readonly string[];
  readonly description: string;
}

export interface VerbModel {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Offer[];
  /** Whether the first operand is the name of a task. */
  readonly takesTask: boolean;
  /** Words that the first operand may be. */
  readonly choices: readonly string[];
}

export interface CompletionModel {
  readonly options: readonly Offer[];
  readonly verbs: readonly VerbModel[];
}

export function modelOf(program: Command): CompletionModel {
  return {
    options: offersOf(program),
    verbs: program.commands.map((command) => {
      const first = command.registeredArguments[0];
      return {
        name: command.name(),
        summary: command.summary(),
        options: offersOf(command),
        takesTask: first?.name() === "name",
        choices: first?.argChoices ?? [],
      };
    }),
  };
}

function offersOf({ options }: Command): Offer[] {
  return options
    .filter(({ hidden }) => !hidden)
    .map((option) => ({ words: wordsOf(option), value: argumentOf(option), description: option.description }));
}

function wordsOf({ short, long }: Option): string[] {
  return [short, long].flatMap((word) => word ?? []);
}

function argumentOf({ flags, required, optional, argChoices }: Option): Offer["value"] {
  if (!required && !optional) return "none";
  if (argChoices !== undefined) return argChoices;
  return /<(?:file|dir)>/.test(flags) ? "file" : "any";
}
