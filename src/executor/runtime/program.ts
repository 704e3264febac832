/** Which errors of `runt` are about a program that cannot be executed. Its words are those of runc, which engines match on (src/runtime/errors/catalogue.ts). */
import type { ProgramFailure } from "../errors.ts";

export interface ProgramFacts {
  readonly reason: ProgramFailure;
  readonly program: string;
}

/** `exec: "NAME": …` is said when the program was looked for, `exec PATH: …` when execve(2) refused the one that was found. */
const FORM = /\bexec(?:: "(?<name>.*?)"| (?<path>\/.*?)): (?<words>.*)$/s;
/** In characters: a path has 4,095 at most, and the words behind it are few. */
const LONGEST_MESSAGE = 16_384;
const NOTHING_THERE = /executable file not found in \$PATH|no such file or directory|not a directory|too many levels of symbolic links/;

/** undefined: it is about something else. `pointer`: into config.json; `start` and `exec` have none of their own. */
export function programFacts({
  code,
  message,
  pointer,
  verb,
}: {
  code: string;
  message: string;
  pointer?: string;
  verb: string;
}): ProgramFacts | undefined {
  if (code !== "operation" || !(pointer?.startsWith("/process/args") || verb === "start")) return undefined;
  // An image may name a program of any length. The expression looks for an end behind each beginning.
  const { name, path = "", words = "" } = FORM.exec(message.slice(0, LONGEST_MESSAGE))?.groups ?? {};
  const program = name ?? path;
  if (program === "") return undefined;
  // What execve does not find is not the program.
  if (NOTHING_THERE.test(words)) return { reason: name === undefined ? "interpreter-missing" : "not-found", program };
  if (/^(permission denied|is a directory)/.test(words)) return { reason: "not-executable", program };
  if (words.startsWith("exec format error")) return { reason: "wrong-format", program };
  return undefined;
}
