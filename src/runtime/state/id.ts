import { RuntError, WORDS } from "../errors/index.ts";
import { defenceDisabled } from "../testing/index.ts";

const MAXIMUM_LENGTH = 1024;
/** Those of which an id is made: \w, +, -, and the dot. */
export const ID_CHARACTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-.";

/** Without a regular expression: the first one of a start costs twenty microseconds. */
export function isId(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAXIMUM_LENGTH || text === "." || text === "..") return false;
  for (let i = 0; i < length; i++) if (!ID_CHARACTERS.includes(text[i]!)) return false;
  return true;
}

/** The id that was found to be one last: a verb asks for the same one again and again. */
let known: string | undefined;

/** Letters, digits, `_`, `+`, `-`, `.`; not `.` or `..` (runc's rule, so that ids move between runtimes). */
export function checkId(id: string): void {
  if (id === known) return;
  if (!isId(id) && !defenceDisabled("container-id")) {
    throw new RuntError("id-invalid", `${WORDS.idFormat}: ${JSON.stringify(id)}`, {
      hint: "an id is made of letters, digits, '_', '+', '-' and '.'",
    });
  }
  known = id;
}
