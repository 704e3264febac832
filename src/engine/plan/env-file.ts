/** Parses an env file: one NAME=VALUE per line, without expansion of variables. Pure. */

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Ignores empty lines and lines that start with #. A value in '...' is taken literally. In "...", \n, \r and \t have
 * their usual meaning, and \ before any other character stands for that character. A value without quotes ends before
 * white space that is followed by #. @throws Error with the number of the line, but nothing of its value
 */
export function parseEnvFile(text: string): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [index, raw] of text
    .replace(/^\uFEFF/, "")
    .split(/\r?\n/)
    .entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const equals = line.indexOf("=");
    const name = line.slice(0, equals).trimEnd();
    if (equals < 0 || !NAME.test(name)) throw new Error(`line ${index + 1} is not NAME=VALUE`);
    if (line.includes("\0")) throw new Error(`line ${index + 1} has a NUL character in it`);
    const value = valueIn(line.slice(equals + 1).trimStart());
    if (value === undefined) throw new Error(`line ${index + 1}: its quotes do not end, or something follows them`);
    found[name] = value;
  }
  return found;
}

/** undefined: the quotes are not closed, or text follows them. */
function valueIn(text: string): string | undefined {
  if (text.startsWith("'")) return /^'([^']*)'\s*(?:#.*)?$/.exec(text)?.[1];
  if (!text.startsWith('"')) return withoutComment(text).trimEnd();
  const inner = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text)?.[1];
  return inner?.replace(/\\(.)/g, (_, one: string) => ESCAPED[one] ?? one);
}

/** A comment begins at the start, or after white space. A regular expression that looks for both takes quadratic time over long white space. */
function withoutComment(text: string): string {
  for (let at = text.indexOf("#"); at >= 0; at = text.indexOf("#", at + 1))
    if (at === 0 || /\s/.test(text[at - 1]!)) return text.slice(0, at);
  return text;
}
