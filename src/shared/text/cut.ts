/** Keeps messages short that quote what others have written: they go into records, logs and answers. */

/** Characters of one message. */
const LONGEST_MESSAGE = 1000;

/** The beginning of a text that is longer than `most` characters, and that it was cut. */
export function cut(text: string, most = LONGEST_MESSAGE): string {
  return text.length <= most ? text : `${text.slice(0, most)}... (cut after ${most} of ${text.length} characters)`;
}

interface Issues {
  readonly issues: readonly { readonly path: readonly PropertyKey[]; readonly message: string }[];
}

/** The first problem that a schema has found in a value, with its place. A value can have very many. @param error of zod */
export function firstIssue({ issues: [first] }: Issues): string {
  if (first === undefined) return "it has another form";
  return cut(first.path.length === 0 ? first.message : `${first.path.map(String).join(".")}: ${first.message}`);
}
