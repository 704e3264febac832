/** Manual pages in man(7), made from the command table and the texts of src/runtime/cli/manual. Pure: data in, text out. */
import { MANUAL } from "../src/runtime/cli/manual/index.ts";
import { DESCRIPTION, ENVIRONMENT, EXIT_STATUS, FILES, PROGRAM_DESCRIPTION, PROGRAM_EXAMPLES } from "../src/runtime/cli/manual/program.ts";
import { type FlagDefinition, GLOBAL_FLAGS, VERBS, type VerbDefinition } from "../src/runtime/cli/table/index.ts";

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
  return [
    '.\\" Made by "make man" from src/runtime/cli/table and src/runtime/cli/manual: do not edit.',
    `.TH ${name.toUpperCase().replaceAll("-", "\\-")} ${SECTION} "" "runt ${version}" "runt manual"`,
    // No hyphenation, ragged right: words of a command line stay whole.
    ".nh",
    ".ad l",
    ...lines,
    "",
  ].join("\n");
}

function heading(title: string, lines: readonly string[]): string[] {
  return [`.SH ${title}`, ...lines];
}

function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text, index) => [...(index === 0 ? [] : [".PP"]), prose(text)]);
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

function terms(rows: readonly (readonly [string, string])[]): string[] {
  return rows.flatMap(([term, text]) => [".TP", `\\fB${literal(term)}\\fR`, prose(text)]);
}

function examples(lines: readonly string[]): string[] {
  return [".EX", ...lines.map(literal), ".EE"];
}

function references(names: readonly string[]): string[] {
  return names.map((name, index) => `.BR ${literal(name)} (${SECTION})${index === names.length - 1 ? "" : ","}`);
}

/** Text that a reader may copy: every dash is the dash of the keyboard. */
function literal(text: string): string {
  return guard(escaped(text).replaceAll("-", "\\-"));
}

/** Sentences: dashes of flags are the keyboard's, those inside words may be typeset. */
function prose(text: string): string {
  return guard(escaped(text).replace(/(^|[\s(])-+(?=\w|\)|;|,| |$)[\w-]*/g, (flag) => flag.replaceAll("-", "\\-")));
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("^", "\\(ha").replaceAll("~", "\\(ti").replaceAll("`", "\\(ga");
}

/** A dot or an apostrophe at the beginning of a line would be a request. */
function guard(text: string): string {
  return /^[.']/.test(text) ? `\\&${text}` : text;
}
