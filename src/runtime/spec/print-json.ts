/** A value of parseJson as JSON text: integers that are bigint stay exact. Pure. */

/** No text of a JSON document has it unescaped. */
const MARK = "\u0000";

export function printJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    // A bigint; a function for each value takes several times as long.
    if (!(error instanceof TypeError)) throw error;
  }
  const marked = JSON.stringify(value, (_, part: unknown) => (typeof part === "bigint" ? `${MARK}${part}` : part));
  return marked.replace(/"\\u0000(-?\d+)"/g, "$1");
}
