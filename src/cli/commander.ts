/**
 * What commander is for here: help texts and suggestions, made from the one table. It is loaded only when somebody needs to
 * read (docs/decisions: parsing an engine's call goes straight through the table).
 */
import "../host/polyfill.ts";
import { Command, CommanderError, Option } from "commander";
import { MANUAL } from "./manual/index.ts";
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "./table/index.ts";

const DESCRIPTION = "Open Container Initiative runtime";

/** Help of one verb, or of the program. The first lines have runc's form, which tests of engines look for. */
export function helpText(verb?: VerbDefinition): string {
  return verb ? verbHelp(verb) : programHelp();
}

/** "did you mean --bundle?" for a mistyped verb or flag; undefined when nothing is near. */
export function suggestion(words: readonly string[]): string | undefined {
  try {
    createProgram().parse([...words].map(doubleDash), { from: "user" });
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

function createProgram(): Command {
  const program = quiet(new Command("runt").description(DESCRIPTION));
  for (const flag of GLOBAL_FLAGS) program.addOption(createOption(flag));
  for (const verb of VERBS) program.addCommand(createCommand(verb));
  return program;
}

function createCommand(verb: VerbDefinition): Command {
  const command = quiet(new Command(verb.name).summary(verb.summary).description(verb.summary));
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

function createOption({ name, short, kind, value, help, hidden }: FlagDefinition): Option {
  const option = new Option(`${short ? `-${short}, ` : ""}--${name}${kind === "boolean" ? "" : ` <${value ?? "value"}>`}`, help);
  return hidden ? option.hideHelp() : option;
}

function programHelp(): string {
  const program = createProgram();
  const commands = program.createHelp().visibleCommands(program);
  return [
    section("NAME", [`runt - ${DESCRIPTION}`]),
    section("USAGE", ["runt [global options] command [command options] [arguments...]"]),
    section("COMMANDS", columns(commands.map((command) => [command.name(), command.summary()]))),
    section("GLOBAL OPTIONS", options(program)),
    section("EXAMPLES", ["runt spec", "runt plan -b /bundles/web", "runt run -b /bundles/hello hello", "runt <command> --help"]),
  ].join("\n");
}

function verbHelp(verb: VerbDefinition): string {
  return [
    section("NAME", [`runt ${verb.name} - ${verb.summary}`]),
    section("USAGE", [`runt ${verb.name} [command options] ${verb.positionals}`.trimEnd()]),
    ...(verb.flags.length === 0 ? [] : [section("OPTIONS", options(createCommand(verb)))]),
    section("EXAMPLES", MANUAL[verb.name].examples),
  ].join("\n");
}

function options(command: Command): string[] {
  const help = command.createHelp();
  return columns(help.visibleOptions(command).map((option) => [help.optionTerm(option), help.optionDescription(option)]));
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `   ${line}\n`).join("")}`;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length)) + 2;
  return rows.map(([left, right]) => left.padEnd(width) + right);
}
