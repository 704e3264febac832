/** Parses env files: env_file of a service, and .env. Source: Compose specification, "Env_file format". */
import { Expansion } from "../expansion.ts";
import { type Environment, interpolate, type Unset } from "./interpolate.ts";

/** Escapes in double quotes. "$$" is a dollar for the interpolation that follows. */
const ESCAPES: Readonly<Record<string, string>> = {
  ...{ a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" },
  ...{ "\\": "\\", '"': '"', $: "$$" },
};
/** Of a line: the name, and what separates it from its value. A name without a value ends with the line. Source: compose-go, dotenv/parser.go. */
const NAME = /(?:export[^\S\n]+)?([\p{L}\p{N}_.[\]-]+)[^\S\n]*([=:]|\n|$)/uy;
const SPACE = /[^\S\n]*/y;

/**
 * Variables in the order of the file. A name without "=" gets its value from `environment`, or is left out. Values may refer to variables of
 * `environment`, which take precedence, and to earlier variables. Source: compose-go, dotenv/godotenv.go, expandVariables.
 * @param earlier variables of earlier files; those of this file take precedence
 * @throws Error: the message has the number of the line
 */
export function variablesIn(
  text: string,
  environment: Environment,
  expansion: Expansion = new Expansion(),
  unset: Unset = () => {},
  earlier: Environment = {},
): Record<string, string> {
  const values: Record<string, string> = {};
  const all: Record<string, string | undefined> = { ...earlier, ...environment };
  for (const { line, name, value } of statements(text)) {
    const known = value === undefined ? environment[name] : valueIn(value, all, { line, expansion, unset });
    if (known === undefined) continue;
    values[name] = known;
    all[name] = environment[name] ?? known;
  }
  return values;
}

/** Variables of a file in the format "raw": everything after the first "=" is the value. Source: Compose specification, "format". */
export function rawVariablesIn(text: string): Record<string, string> {
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const pairs = lines.flatMap((line) => {
    const at = line.indexOf("=");
    return line.startsWith("#") || at < 1 ? [] : [[line.slice(0, at), line.slice(at + 1)] as const];
  });
  return Object.fromEntries(pairs);
}

interface Statement {
  readonly line: number;
  readonly name: string;
  /** undefined: there is only a name. */
  readonly value: Value | undefined;
}

interface Value {
  readonly text: string;
  readonly quote?: string;
}

/** What follows a quoted value in its line is the next statement. @throws Error */
function* statements(content: string): Generator<Statement> {
  const text = content.replace(/^\uFEFF/, "").replaceAll("\r\n", "\n");
  let line = 1;
  let counted = 0;
  for (let at = 0; ; ) {
    at = beginningOf(text, at);
    if (at >= text.length) return;
    while (counted < at) if (text[counted++] === "\n") line++;
    NAME.lastIndex = at;
    const [all, name, separator] = NAME.exec(text) ?? [];
    if (all === undefined || name === undefined) throw new Error(`line ${line} is no NAME=VALUE`);
    at += all.length;
    if (separator !== "=" && separator !== ":") {
      yield { line, name, value: undefined };
      continue;
    }
    SPACE.lastIndex = at;
    at += SPACE.exec(text)![0].length;
    const quote = text[at];
    if (quote === "'" || quote === '"') {
      const end = closingOf(text, quote, at + 1);
      if (end < 0) throw new Error(`line ${line}: a quote is not closed`);
      yield { line, name, value: { text: text.slice(at + 1, end), quote } };
      at = end + 1;
    } else {
      const next = text.indexOf("\n", at);
      const end = next < 0 ? text.length : next;
      yield { line, name, value: { text: withoutComment(text.slice(at, end)) } };
      at = end;
    }
  }
}

/** Position of the next statement: behind white space and comments. */
function beginningOf(text: string, from: number): number {
  let at = from;
  for (; at < text.length; at++) {
    if (text[at] === "#") {
      const next = text.indexOf("\n", at);
      if (next < 0) return text.length;
      at = next;
    } else if (!/\s/.test(text[at]!)) break;
  }
  return at;
}

/** Position of the closing quote; -1: there is none. A quote after a backslash does not count. */
function closingOf(text: string, quote: string, from: number): number {
  for (let at = from; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === quote) return at;
  }
  return -1;
}

/** A comment begins after a space that follows the value. */
function withoutComment(line: string): string {
  const at = line.indexOf(" #");
  return (at < 0 ? line : line.slice(0, at)).trimEnd();
}

interface Place {
  readonly line: number;
  readonly expansion: Expansion;
  readonly unset: Unset;
}

function valueIn({ text, quote }: Value, environment: Environment, { line, expansion, unset }: Place): string {
  if (quote === "'") return text.replaceAll("\\'", "'");
  const plain =
    quote === undefined
      ? text
      : text.replace(/\\(?:0(\d{3})|(.))/gs, (all, octal, one) => (one === undefined ? ofOctal(octal) : ESCAPES[one]) ?? all);
  try {
    return interpolate(plain, environment, expansion, unset);
  } catch (error) {
    throw new Error(`line ${line}: ${(error as Error).message}`);
  }
}

/** undefined: it is no number of a byte. */
function ofOctal(digits: string): string | undefined {
  return /^[0-3][0-7]{2}$/.test(digits) ? String.fromCharCode(Number.parseInt(digits, 8)) : undefined;
}
