/** Texts of --help, in sections with runc's headings; no line is wider than a terminal of 100 columns. */
import type { Command, Option } from "commander";
import { createCommand, createProgram } from "./commander.ts";
import { DESCRIPTION, FLAG_GROUPS, MANUAL } from "./manual/index.ts";
import { columns, type Row, termWidth, wrap } from "./output.ts";
import { VERBS, type VerbDefinition } from "./table/index.ts";

const WIDTH = 100;
const INDENT = "   ";
const INNER = WIDTH - INDENT.length;
/** Above this many flags, headings help to find one. */
const FEW_FLAGS = 8;

/** Help of one verb, or of the program. The first lines have runc's form, which tests of engines look for. */
export function helpText(verb?: VerbDefinition, name = "runt"): string {
  const text = verb ? verbHelp(verb) : programHelp();
  return name === "runt" ? text : text.replaceAll(CALL, name);
}

/** The program's name where it is called, and in front of what it is. */
const CALL = new RegExp(`(?<![\\w./-])runt(?= (?:-|\\[|<|(?:${VERBS.map(({ name }) => name).join("|")})\\b))`, "g");

function programHelp(): string {
  const program = createProgram();
  const help = program.createHelp();
  return [
    section("NAME", [`runt - ${DESCRIPTION}`]),
    section("USAGE", ["runt [global options] command [command options] [arguments...]"]),
    section(
      "COMMANDS",
      columns(
        help.visibleCommands(program).map((command): Row => [command.name(), help.subcommandDescription(command)]),
        INNER,
      ),
    ),
    section("GLOBAL OPTIONS", options(program)),
    section("EXAMPLES", ["runt spec", "runt plan -b /bundles/web", "runt run -b /bundles/hello hello", "runt <command> --help"]),
  ].join("\n");
}

function verbHelp(verb: VerbDefinition): string {
  const { description, examples, exitStatus = [] } = MANUAL[verb.name];
  const lines = options(createCommand(verb));
  return [
    section("NAME", [`runt ${verb.name} - ${verb.summary}`]),
    section("USAGE", [`runt ${verb.name} [command options] ${verb.positionals}`.trimEnd()]),
    section(
      "DESCRIPTION",
      description.flatMap((paragraph, index) => [...(index === 0 ? [] : [""]), ...wrap(paragraph, INNER)]),
    ),
    ...(lines.length === 0 ? [] : [section("OPTIONS", lines)]),
    section("EXAMPLES", examples),
    ...(exitStatus.length === 0 ? [] : [section("EXIT STATUS", columns(exitStatus, INNER))]),
  ].join("\n");
}

/** The flags of a command; many of them under their headings. */
function options(command: Command): string[] {
  const help = command.createHelp();
  const visible = help.visibleOptions(command);
  const rows = new Map(
    visible.map((option): [Option, Row] => [option, [aligned(help.optionTerm(option)), help.optionDescription(option)]]),
  );
  const width = termWidth([...rows.values()]);
  const linesOf = (chosen: readonly Option[]) =>
    columns(
      chosen.map((option) => rows.get(option)!),
      INNER,
      width,
    );
  if (visible.length <= FEW_FLAGS) return linesOf(visible);
  const groups = FLAG_GROUPS.map(([title]) => [title, visible.filter(({ helpGroupHeading }) => helpGroupHeading === title)] as const);
  return [
    ...linesOf(visible.filter(({ helpGroupHeading }) => helpGroupHeading === undefined)),
    ...groups.flatMap(([title, members]) => (members.length === 0 ? [] : ["", `${title}:`, ...linesOf(members)])),
  ];
}

/** Long names stand below each other. */
function aligned(term: string): string {
  return term.startsWith("--") ? `    ${term}` : term;
}

function section(title: string, lines: readonly string[]): string {
  return `${title}:\n${lines.map((line) => `${INDENT}${line}`.trimEnd()).join("\n")}\n`;
}
