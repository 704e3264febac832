/**
 * The command line as commander's objects, made from the one table: for help (help.ts) and for suggestions. An engine's call
 * goes straight through the table (docs/decisions/0004-command-line.md).
 */
import "./polyfill.ts";
import { Command, CommanderError, Option } from "commander";
import { FLAG_GROUPS } from "./manual/index.ts";
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "./table/index.ts";

/** "did you mean --bundle?" for a mistyped verb or flag; undefined when nothing is near. */
export function suggestion(words: readonly string[]): string | undefined {
  try {
    const meant = words[0] === "help" ? words.slice(1) : words;
    createProgram().parse(meant.map(doubleDash), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return /\((Did you mean [^)]*)\)/.exec(error.message)?.[1]?.replace(/^D/, "d");
  }
  return undefined;
}

/** Go-style `-flag` is commander's `--flag`. */
function doubleDash(word: string): string {
  return /^-\w{2,}/.test(word) ? `-${word}` : word;
}

/** The program with its global flags and all verbs. */
export function createProgram(): Command {
  const program = quiet(new Command("runt")).helpCommand("help [command]", "show the help of a command");
  for (const flag of GLOBAL_FLAGS) program.addOption(createOption(flag));
  for (const verb of VERBS) program.addCommand(createCommand(verb));
  return program;
}

/** One verb alone. */
export function createCommand(verb: VerbDefinition): Command {
  const command = quiet(new Command(verb.name).summary(verb.summary));
  for (const positional of verb.positionals.split(" ").filter((word) => word !== "")) command.argument(positional);
  for (const flag of verb.flags) command.addOption(createOption(flag));
  return command.action(() => undefined);
}

/** Errors come back as exceptions, and nothing is printed behind the reporter's back. */
function quiet(command: Command): Command {
  return command
    .exitOverride()
    .helpOption(false)
    .configureOutput({ writeOut: () => undefined, writeErr: () => undefined });
}

function createOption({ name, short, kind, value = "VALUE", help, repeatable, hidden }: FlagDefinition): Option {
  const spelling = `${short ? `-${short}, ` : ""}--${name}${kind === "boolean" ? "" : ` <${value}>`}`;
  const option = new Option(spelling, repeatable ? `${help}; may be repeated` : help).hideHelp(hidden ?? false);
  const group = FLAG_GROUPS.find(([, names]) => names.includes(name));
  return group ? option.helpGroup(group[0]) : option;
}
