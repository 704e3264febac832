/** Reads the text of a unit file of systemd. Source: systemd.syntax(7). */

/** `Key=Value`, with its place. */
export interface Entry {
  readonly section: string;
  readonly key: string;
  /** Lines that a backslash joins are one, with a blank between them. */
  readonly value: string;
  /** Path of the file, as the user has named it. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

export interface Section {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  readonly entries: readonly Entry[];
}

export interface Wrong {
  readonly message: string;
  readonly file: string;
  readonly line: number;
}

export interface UnitText {
  readonly sections: readonly Section[];
  readonly wrong: readonly Wrong[];
}

/** In characters, of a file. */
export const LONGEST_UNIT = 256 * 1024;
/** Of a file. */
const MOST_WRONG = 100;

const COMMENT = /^[ \t]*[#;]/;
const HEAD = /^\[([^\]\p{Cc}]+)\]$/u;
const KEY = /^[A-Za-z0-9_-]+$/;

/** Takes time proportional to the length of the text. */
export function readUnit(text: string, file: string): UnitText {
  if (text.length > LONGEST_UNIT) return { sections: [], wrong: [{ message: `has more than ${LONGEST_UNIT} characters`, file, line: 1 }] };
  const sections: (Section & { readonly entries: Entry[] })[] = [];
  const wrong: Wrong[] = [];
  const refuse = (message: string, line: number) => {
    if (wrong.length < MOST_WRONG) wrong.push({ message, file, line });
  };
  for (const { line, content } of statements(text)) {
    const [, name] = HEAD.exec(content) ?? [];
    const equals = content.indexOf("=");
    const key = content.slice(0, Math.max(0, equals)).trim();
    if (/[\0\uFFFD]/.test(content)) refuse("has a character that is none of a text", line);
    else if (name !== undefined) sections.push({ name, file, line, entries: [] });
    else if (!KEY.test(key)) refuse("is neither [SECTION] nor KEY=VALUE nor a comment", line);
    else if (sections.length === 0) refuse("stands before the first [SECTION]", line);
    else sections.at(-1)!.entries.push({ section: sections.at(-1)!.name, key, value: content.slice(equals + 1).trim(), file, line });
  }
  return { sections, wrong };
}

/** Lines without comments, each joined with those that continue it. Comments between them belong to none. */
function* statements(text: string): Generator<{ readonly line: number; readonly content: string }> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    if (COMMENT.test(lines[at]!)) continue;
    const line = at + 1;
    const parts: string[] = [];
    let part = lines[at]!;
    while (part.endsWith("\\")) {
      parts.push(part.slice(0, -1));
      do at++;
      while (at < lines.length && COMMENT.test(lines[at]!));
      part = lines[at] ?? "";
    }
    const content = [...parts, part].join(" ").trim();
    if (content !== "") yield { line, content };
  }
}
