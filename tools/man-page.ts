/** Manual pages in man(7), made from the command table and the texts of src/runtime/cli/manual. Pure: data in, text out. */
import {
  DESCRIPTION,
  ENVIRONMENT,
  EXIT_STATUS,
  FILES,
  MANUAL,
  PROGRAM_DESCRIPTION,
  PROGRAM_EXAMPLES,
} from "../src/runtime/cli/manual/index.ts";
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "../src/runtime/cli/table/index.ts";
import { heading, literal, page as pageOf, paragraphs, prose, terms } from "./man-text.ts";

/** Section 8 of the manual: commands of the administrator. */
const SECTION = 8;

/** Every page by its file name. */
export function manPages(version: string): ReadonlyMap<string, string> {
  const pages = VERBS.map((verb) => [`runt-${verb.name}.${SECTION}`, verbPage(verb, version)] as const);
  return new Map([[`runt.${SECTION}`, programPage(version)], ...pages]);
}

function programPage(version: string): string {
  return page("runt", version, [
    ...heading("NAME", [`runt \\- ${prose(DESCRIPTION)}`]),
    ...heading("SYNOPSIS", ["\\fBrunt\\fR [global options] \\fIcommand\\fR [command options] [arguments...]"]),
    ...heading("DESCRIPTION", paragraphs(PROGRAM_DESCRIPTION)),
    ...heading(
      "COMMANDS",
      VERBS.flatMap(({ name, summary }) => [".TP", `.BR runt\\-${name} (${SECTION})`, prose(summary)]),
    ),
    ...heading("GLOBAL OPTIONS", flags(GLOBAL_FLAGS)),
    ...heading("EXAMPLES", examples(PROGRAM_EXAMPLES)),
    ...heading("EXIT STATUS", terms(EXIT_STATUS)),
    ...heading("FILES", terms(FILES)),
    ...heading("ENVIRONMENT", terms(ENVIRONMENT)),
    ...heading("SEE ALSO", references([...VERBS.map(({ name }) => `runt-${name}`)])),
  ]);
}

function verbPage(verb: VerbDefinition, version: string): string {
  const { description, examples: lines, exitStatus = [], seeAlso = [] } = MANUAL[verb.name];
  const shown = verb.flags.filter(({ hidden }) => !hidden);
  const general = EXIT_STATUS.filter(([status]) => status === "0" || (status === "1" && !exitStatus.some(([own]) => own === status)));
  return page(`runt-${verb.name}`, version, [
    ...heading("NAME", [`runt\\-${verb.name} \\- ${prose(verb.summary)}`]),
    ...heading("SYNOPSIS", [
      `\\fBrunt\\fR [global options] \\fB${verb.name}\\fR ${shown.length > 0 ? "[options] " : ""}${prose(verb.positionals)}`.trimEnd(),
    ]),
    ...heading("DESCRIPTION", paragraphs(description)),
    ...(shown.length > 0 ? heading("OPTIONS", flags(shown)) : []),
    ...heading("EXAMPLES", examples(lines)),
    ...heading("EXIT STATUS", terms([...general, ...exitStatus])),
    ...heading("SEE ALSO", references(["runt", ...seeAlso.map((name) => `runt-${name}`)])),
  ]);
}

function page(name: string, version: string, lines: readonly string[]): string {
  return pageOf({ name, section: SECTION, version, source: "src/runtime/cli/table and src/runtime/cli/manual" }, lines);
}

function flags(definitions: readonly FlagDefinition[]): string[] {
  return definitions.flatMap(({ name, short, kind, value = "VALUE", help, repeatable }) => [
    ".TP",
    [
      ...(short === undefined ? [] : [`\\fB\\-${short}\\fR, `]),
      `\\fB${literal(`--${name}`)}\\fR`,
      ...(kind === "boolean" ? [] : [` \\fI${literal(value)}\\fR`]),
    ].join(""),
    prose(repeatable ? `${help}; may be repeated` : help),
  ]);
}

function examples(lines: readonly string[]): string[] {
  return [".EX", ...lines.map(literal), ".EE"];
}

function references(names: readonly string[]): string[] {
  return names.map((name, index) => `.BR ${literal(name)} (${SECTION})${index === names.length - 1 ? "" : ","}`);
}
