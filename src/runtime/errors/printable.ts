/**
 * Texts of images, configurations and programs as people may see them: nothing in them reaches a terminal as a command or begins a line of its own.
 * Pure. C has the same in put_printable (native-bindings/shared/str.c).
 */

/**
 * Control characters (C0, DEL, C1), separators of lines, what changes the direction of writing, and halves of surrogate pairs. The backslash is
 * none: paths and shell words stay as they are.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is replaced
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/gu;
const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const escaped = (c: string) => SHORT[c] ?? `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** One line: what is unsafe stands there as in a JSON string. */
export function printable(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** The same for a text of several lines, which stay that. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE, (c) => (c === "\n" ? c : escaped(c)));
}

/** Of an error message: both ends say what it is about. */
const LONGEST = 32_768;

/** A message of which the middle is left out when it is longer than 32,768 UTF-16 units, as one line. */
export function messageLine(text: string): string {
  const left = text.length - LONGEST;
  return printable(left <= 0 ? text : `${text.slice(0, LONGEST / 2)} [${left} characters left out] ${text.slice(-LONGEST / 2)}`);
}
