/**
 * Reads the output of `strace -f -X verbose -o FILE`: one entry for each call. In an argument the number comes first, and its meaning follows
 * in a comment: `0x80001 /* O_WRONLY|O_CLOEXEC *` + `/`.
 */

export interface TracedCall {
  readonly pid: number;
  readonly name: string;
  readonly args: readonly string[];
  /** Result of the call; -1 after an error. undefined if the process has ended in it or executed another program. */
  readonly result: number | undefined;
  /** EPERM, ...: with result -1. */
  readonly error: string;
  readonly text: string;
}

/** In the order in which the calls began: a child cannot have called before the call that made it. */
export function parseTrace(text: string): TracedCall[] {
  const calls: TracedCall[] = [];
  const begun = new Map<number, { at: number; text: string }>();
  for (const line of text.split("\n")) {
    const [, number = "", rest = ""] = /^(\d+) +(.*)$/.exec(line) ?? [];
    const pid = Number(number);
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    if (resumed) {
      const half = begun.get(pid);
      begun.delete(pid);
      if (half) calls[half.at] = callOf(pid, half.text + resumed[1])!;
      continue;
    }
    const whole = rest.replace(/<unfinished \.\.\.>$/, "");
    const call = callOf(pid, whole);
    if (!call) continue;
    // A process that dies in a call leaves the unfinished line only.
    if (whole !== rest) begun.set(pid, { at: calls.length, text: whole });
    calls.push(call);
  }
  return calls;
}

function callOf(pid: number, text: string): TracedCall | undefined {
  const [start = "", name = ""] = /^(\w+)\(/.exec(text) ?? [];
  if (name === "") return undefined;
  const { parts, end } = splitList(text, start.length);
  const [, result, error = ""] = /^\)? += (-?\w+)(?: (E[A-Z0-9]+))?/.exec(text.slice(end)) ?? [];
  return { pid, name, args: parts, result: result === undefined ? undefined : Number(result), error, text };
}

const CLOSING = ")]}";

/** The comma-separated parts from here to the bracket that closes them. */
export function splitList(text: string, from: number): { parts: string[]; end: number } {
  const parts: string[] = [];
  let depth = 0;
  let start = from;
  let at = from;
  for (; at < text.length; at++) {
    const char = text[at]!;
    if (char === '"') at = endOfString(text, at);
    else if (text.startsWith("/*", at)) at = Math.max(at, text.indexOf("*/", at) + 1);
    else if ("([{".includes(char)) depth++;
    else if (CLOSING.includes(char) && depth-- === 0) break;
    else if (char === "," && depth === 0) {
      parts.push(text.slice(start, at).trim());
      start = at + 1;
    }
  }
  const last = text.slice(start, at).trim();
  if (last !== "" || parts.length > 0) parts.push(last);
  return { parts, end: at };
}

function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at;
  }
  return text.length;
}

const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", f: "\f", v: "\v" };

/** The characters of a quoted argument, each a byte; undefined for what is no string. */
export function stringOf(arg: string): string | undefined {
  const [, quoted] = /^"(.*)"$/s.exec(arg) ?? [];
  return quoted?.replace(/\\(?:x([0-9a-f]{2})|([0-7]{1,3})|(.))/gs, (_, hex, octal, char: string) => {
    if (hex) return String.fromCharCode(Number.parseInt(hex, 16));
    return octal ? String.fromCharCode(Number.parseInt(octal, 8)) : (ESCAPES[char] ?? char);
  });
}

/** The number of an argument whose parts may be joined by `|`; undefined for what is not a number. */
export function numberOf(arg: string): bigint | undefined {
  const bare = arg.replace(/\/\*.*?\*\//gs, "").trim();
  let sum = 0n;
  for (const part of bare.split("|")) {
    const word = part.trim();
    if (/^-?\d+$/.test(word)) sum |= /^0\d/.test(word) ? BigInt(`0o${word.slice(1)}`) : BigInt(word);
    else if (/^0x[0-9a-f]+$/.test(word)) sum |= BigInt(word);
    else return undefined;
  }
  return sum;
}

/** The names in the comments of an argument: O_WRONLY, O_CLOEXEC. */
export function namesOf(arg: string): string[] {
  return [...arg.matchAll(/\/\*(.*?)\*\//gs)].flatMap(([, names = ""]) => names.split("|").map((name) => name.trim()));
}
