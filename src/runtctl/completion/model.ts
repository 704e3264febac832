/** What a shell may offer, from the command line's own definition. */
import type { Command, Option } from "commander";

export interface Offer {
  /** "--follow", "-f". */
  readonly words: readonly string[];
  /** What may stand behind it: nothing; a file; one of these; or something that nobody knows. */
  readonly value: "none" | "file" | "any" | readonly string[];
  readonly description: string;
}

export interface VerbModel {
  readonly name: string;
  readonly summary: string;
  readonly options: readonly Offer[];
  /** Its first operand is the name of a task. */
  readonly takesTask: boolean;
  /** What its first operand may be. */
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
