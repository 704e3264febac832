/** The checks of the host's side of a machine's channel, to be taken out one at a time: what tries that side has to find each. */
import { basename } from "node:path";

/** A check of the host's side: a piece of its text, and what it is instead. */
export type Check = readonly [file: string, check: string, without: string];

/** Those are left out that another one repeats. */
export const CHECKS: readonly Check[] = [
  ["frame", "if (name === undefined)", "if (false)"],
  ["frame", "if (length > most || ", "if ("],
  ["frame", " || length < fewest", ""],
  ["frame", "view.getUint8(5) !== 0 || ", ""],
  ["frame", " || view.getUint16(6) !== 0", ""],
  ["session", "!this.#greeted || found === undefined", "found === undefined"],
  ["session", "!this.#greeted || found === undefined", "!this.#greeted"],
  ["session", "if (!found.awaited)", "if (false)"],
  ["session", "found.awaited = false;", ""],
  ["session", "if (found.awaited)", "if (false)"],
  ["session", "if (found.started) throw new ProtocolError(`stream", "if (false) throw new ProtocolError(`stream"],
  ["session", 'case "oom":\n        if (!found.started)', 'case "oom":\n        if (false)'],
  ["session", 'case "exit":\n        if (!found.started)', 'case "exit":\n        if (false)'],
  ["session", 'case "failed":\n        if (found.started)', 'case "failed":\n        if (false)'],
  ["session", "this.#greeted || stream !== 0", "stream !== 0"],
  ["session", "this.#greeted || stream !== 0", "this.#greeted"],
  ["session", 'if (channel !== "stdin")', "if (false)"],
  ["session", "found[name].arrive(payload.length);", ""],
  ["session", "stdin.grant(bytes);", ""],
  ["session", 'this.#streams.delete(stream);\n        return { what: "ended"', 'return { what: "ended"'],
  ["session", 'this.#streams.delete(stream);\n        return { what: "failed"', 'return { what: "failed"'],
  ["session", "bytes === 0 || this.#left", "this.#left"],
  ["session", " || this.#left + bytes > WINDOW", ""],
  ["session", "this.#held + bytes > WINDOW", "false"],
  ["messages", 'typeof version !== "string" || ', ""],
  ["messages", ' || typeof commit !== "string"', ""],
  ["messages", 'typeof message !== "string" ||', ""],
  ["messages", 'typeof shown !== "boolean" ||', ""],
  ["messages", "!Number.isInteger(status) ||", ""],
  ["messages", "(status as number) < 1 ||", ""],
  ["messages", "(status as number) > 255", "false"],
];

/** The module's text without the check; itself where it is in another module. */
export function withoutCheck(path: string, text: string, [file, check, replacement]: Check): string {
  if (basename(path, ".ts") !== file) return text;
  if (!text.includes(check)) throw new Error(`${file}.ts has no "${check}"`);
  return text.replace(check, () => replacement);
}
