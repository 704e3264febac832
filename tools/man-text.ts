/** Text of manual pages in man(7). Pure. */

export interface PageHead {
  readonly name: string;
  readonly section: number;
  readonly version: string;
  /** What it is made from. */
  readonly source: string;
}

export function page({ name, section, version, source }: PageHead, lines: readonly string[]): string {
  return [
    `.\\" Made by "make man" from ${source}: do not edit.`,
    `.TH ${name.toUpperCase().replaceAll("-", "\\-")} ${section} "" "runt ${version}" "runt manual"`,
    // No hyphenation, ragged right: words of a command line stay whole.
    ".nh",
    ".ad l",
    ...lines,
    "",
  ].join("\n");
}

export function heading(title: string, lines: readonly string[]): string[] {
  return [`.SH ${title}`, ...lines];
}

export function paragraphs(texts: readonly string[]): string[] {
  return texts.flatMap((text, index) => [...(index === 0 ? [] : [".PP"]), prose(text)]);
}

/** A term without its text would be a bold line and nothing below it: an error. So would one whose text was taken for a part of it. */
export function terms(rows: readonly (readonly [string, string])[]): string[] {
  const bare = rows.find(([, text]) => text.trim() === "");
  if (bare) throw new Error(`manual page: "${bare[0]}" has no text (in a usage text two blanks or a new line stand before it)`);
  return rows.flatMap(([term, text]) => [".TP", `\\fB${literal(term)}\\fR`, prose(text)]);
}

/** Text that a reader may copy: every dash is the dash of the keyboard. */
export function literal(text: string): string {
  return guard(escaped(text).replaceAll("-", "\\-"));
}

/** Sentences: dashes of flags are the keyboard's, those inside words may be typeset. */
export function prose(text: string): string {
  return guard(escaped(text).replace(/(^|[\s(])-+(?=\w|\)|;|,| |$)[\w-]*/g, (flag) => flag.replaceAll("-", "\\-")));
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("^", "\\(ha").replaceAll("~", "\\(ti").replaceAll("`", "\\(ga");
}

/** A dot or an apostrophe at the beginning of a line would be a request. */
function guard(text: string): string {
  return /^[.']/.test(text) ? `\\&${text}` : text;
}
