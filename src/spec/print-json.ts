/** A value of parseJson as JSON text: integers that are bigint stay exact. Pure. */

/** No text of a JSON document has it unescaped. */
const MARK = "\u0000";

export function printJson(value: unknown): string {
  const marked = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${MARK}${part}` : part));
  return marked.replace(/"\\u0000(-?\d+)"/g, "$1");
}
