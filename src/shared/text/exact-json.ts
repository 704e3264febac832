/**
 * JSON in which whole numbers stay exact: one that is not safe as a double becomes a BigInt. Limits, device ids and arguments of system calls have 64 bits.
 */

/** A string, or a number. */
const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?/g;
const INTEGER = /^-?\d{16,}$/;

/** @throws SyntaxError, as JSON.parse */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (!/\d{16}/.test(text)) return value;
  // No object of the text has this key.
  let key = "@integer";
  while (text.includes(key)) key += "@";
  const marked = text.replace(TOKEN, (token) =>
    INTEGER.test(token) && !Number.isSafeInteger(Number(token)) ? `{"${key}":"${token}"}` : token,
  );
  return JSON.parse(marked, (_, one: unknown) => (isMarked(one, key) ? BigInt(one[key]!) : one));
}

function isMarked(value: unknown, key: string): value is Readonly<Record<string, string>> {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key);
}

/** What is undefined is left out, as JSON.stringify does. */
export function exactJson(value: unknown): string {
  if (typeof value === "bigint") return String(value);
  if (Array.isArray(value)) return `[${value.map((one) => exactJson(one ?? null)).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, one]) => one !== undefined);
  return `{${fields.map(([name, one]) => `${JSON.stringify(name)}:${exactJson(one)}`).join(",")}}`;
}
