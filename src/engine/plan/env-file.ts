/** A file of variables: a line each, as NAME=VALUE. Nothing is expanded. Pure. */

const NAME = /^[A-Za-z_][A-Za-z0-9_.-]*$/;
const ESCAPED: Readonly<Record<string, string>> = { n: "\n", r: "\r", t: "\t" };

/**
 * Lines without anything and those that begin with # say nothing. A value in '...' is as it stands; in "..." \n, \r, \t are what they usually are and \ before
 * another character is that character; without quotes it ends where white space and # follow it. @throws Error, which names the line, and nothing of its value
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

/** undefined: its quotes are wrong. */
function valueIn(text: string): string | undefined {
  if (text.startsWith("'")) return /^'([^']*)'\s*(?:#.*)?$/.exec(text)?.[1];
  if (!text.startsWith('"')) return text.replace(/(?:^|\s+)#.*$/, "").trimEnd();
  const inner = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(text)?.[1];
  return inner?.replace(/\\(.)/g, (_, one: string) => ESCAPED[one] ?? one);
}
