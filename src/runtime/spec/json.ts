/**
 * An exact JSON parser (RFC 8259): integers that a double would round become bigint, every value's position can be kept,
 * and errors know their line. Slower than JSON.parse: it runs where exactness needs it, and after any error.
 */
import { RuntError } from "../errors/index.ts";

export type JsonValue = null | boolean | number | bigint | string | JsonValue[] | { [key: string]: JsonValue };

export interface JsonOptions {
  /** Filled with the offset of every value by its JSON pointer (RFC 6901). */
  readonly positions?: Map<string, number>;
  /** Filled with the pointers of object members that occur more than once (the last one wins). */
  readonly duplicates?: string[];
  /** Told where data behind the document begins, which is an error otherwise. */
  readonly trailing?: (offset: number) => void;
  /** Name of the document in messages. */
  readonly file?: string;
}

/** Objects and lists within each other: more than any configuration has. The same number stands in native-bindings/host/text.c. */
export const MAX_DEPTH = 256;

const ESCAPES: Readonly<Record<string, string>> = { '"': '"', "\\": "\\", "/": "/", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" };
/** More digits than any number has, and fewer than exhaust the engine's memory while they are matched. */
const MAX_DIGITS = 1000;
const NUMBER = /-?(?:0|[1-9]\d{0,999})(\.\d{1,1000})?([eE][+-]?\d{1,1000})?/y;
/** Not allowed in a string. */
const CONTROL = /[^\u0020-\uffff]/g;
const HEX4 = /^[0-9a-fA-F]{4}$/;

/** 1-based line and column (in UTF-16 units) of an offset. */
export function lineColumn(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1;
  let start = 0;
  for (let end = text.indexOf("\n"); end !== -1 && end < offset; end = text.indexOf("\n", start)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}

/** One reference token of a JSON pointer. */
export function pointerToken(key: string): string {
  return key.includes("~") || key.includes("/") ? key.replaceAll("~", "~0").replaceAll("/", "~1") : key;
}

/** Parse a whole document. A byte order mark is skipped. Throws RuntError "config-syntax" with line and column. */
export function parseJson(text: string, options: JsonOptions = {}): JsonValue {
  const { positions, duplicates } = options;
  const withPointers = positions !== undefined || duplicates !== undefined;
  let at = text.charCodeAt(0) === 0xfeff ? 1 : 0;
  let depth = 0;

  const fail = (message: string, offset = at, hint?: string): never => {
    const { line, column } = lineColumn(text, offset);
    const place = { line, column, ...(hint !== undefined && { hint }) };
    throw new RuntError("config-syntax", `${options.file ?? "config.json"}:${line}:${column}: ${message}`, place);
  };
  const found = (): string => (at >= text.length ? "end of file" : JSON.stringify(String.fromCodePoint(text.codePointAt(at) ?? 0)));
  const skipBlanks = (): void => {
    for (;;) {
      const c = text.charCodeAt(at);
      if (c !== 0x20 && c !== 0x0a && c !== 0x0d && c !== 0x09) return;
      at += 1;
    }
  };

  /** Where the next backslash and the next control character are, as far as it is known; most strings end before both. */
  let backslash = -1;
  let control = -1;
  const parseString = (): string => {
    const start = at;
    const end = text.indexOf('"', at + 1);
    if (backslash < at) {
      backslash = text.indexOf("\\", at);
      if (backslash < 0) backslash = text.length;
    }
    if (control < at) {
      CONTROL.lastIndex = at;
      control = CONTROL.exec(text)?.index ?? text.length;
    }
    if (end >= 0 && end < backslash && end < control) {
      at = end + 1;
      return text.slice(start + 1, end);
    }
    let result = "";
    let from = ++at;
    for (;;) {
      const c = text.charCodeAt(at);
      if (Number.isNaN(c)) fail("unterminated string", start);
      if (c < 0x20) fail(c === 0x0a ? "unterminated string" : "control character in a string", c === 0x0a ? start : at);
      if (c === 0x22) {
        result += text.slice(from, at);
        at += 1;
        return result;
      }
      if (c !== 0x5c) {
        at += 1;
        continue;
      }
      result += text.slice(from, at);
      const letter = text[at + 1] ?? "";
      if (letter === "u") {
        const digits = text.slice(at + 2, at + 6);
        if (!HEX4.test(digits)) fail("\\u needs four hexadecimal digits");
        result += String.fromCharCode(Number.parseInt(digits, 16));
        at += 6;
      } else {
        result += ESCAPES[letter] ?? fail(`unknown escape \\${letter}`);
        at += 2;
      }
      from = at;
    }
  };

  const parseNumber = (): number | bigint => {
    NUMBER.lastIndex = at;
    const match = NUMBER.exec(text);
    if (match === null) return expected("a value");
    const [digits, fraction, exponent] = match;
    at += digits.length;
    const next = text.charCodeAt(at);
    if (next >= 0x30 && next <= 0x39) {
      if (digits.length < MAX_DIGITS) fail("a number may not start with 0", at - 1);
      fail(`a number of more than ${MAX_DIGITS} digits`, NUMBER.lastIndex - digits.length);
    }
    const value = Number(digits);
    if (digits.length < 16 || fraction !== undefined || exponent !== undefined || Number.isSafeInteger(value)) return value;
    return BigInt(digits);
  };

  const expected = (what: string): never => {
    const isComment = text.startsWith("//", at) || text.startsWith("/*", at) || text[at] === "#";
    return isComment ? fail("JSON has no comments", at, "take the comments out") : fail(`expected ${what}, found ${found()}`);
  };

  const literal = <T>(word: string, value: T): T => {
    if (!text.startsWith(word, at)) expected("a value");
    at += word.length;
    return value;
  };

  const parseArray = (pointer: string | undefined): JsonValue[] => {
    const items: JsonValue[] = [];
    at += 1;
    skipBlanks();
    if (text[at] === "]") {
      at += 1;
      return items;
    }
    for (;;) {
      items.push(parseValue(pointer === undefined ? undefined : `${pointer}/${items.length}`));
      skipBlanks();
      const c = text[at];
      if (c === "]") {
        at += 1;
        return items;
      }
      if (c !== ",") expected('"," or "]" after a list item');
      at += 1;
    }
  };

  const parseObject = (pointer: string | undefined): { [key: string]: JsonValue } => {
    const members: { [key: string]: JsonValue } = {};
    at += 1;
    skipBlanks();
    if (text[at] === "}") {
      at += 1;
      return members;
    }
    for (;;) {
      skipBlanks();
      if (text[at] !== '"') expected("a field name in double quotes");
      const key = parseString();
      const here = pointer === undefined ? undefined : `${pointer}/${pointerToken(key)}`;
      skipBlanks();
      if (text[at] !== ":") expected(`":" after the field name ${JSON.stringify(key)}`);
      at += 1;
      const value = parseValue(here);
      if (duplicates !== undefined && here !== undefined && Object.hasOwn(members, key)) duplicates.push(here);
      // A plain assignment to __proto__ would set the prototype.
      if (key === "__proto__") Object.defineProperty(members, key, { value, enumerable: true, configurable: true, writable: true });
      else members[key] = value;
      skipBlanks();
      const c = text[at];
      if (c === "}") {
        at += 1;
        return members;
      }
      if (c !== ",") expected('"," or "}" after a field');
      at += 1;
    }
  };

  /** @param pointer JSON pointer of the value; undefined: its position is not needed */
  const parseValue = (pointer: string | undefined): JsonValue => {
    skipBlanks();
    if (pointer !== undefined) positions?.set(pointer, at);
    const first = text[at];
    if (first !== "{" && first !== "[") return parseScalar();
    if (++depth > MAX_DEPTH) fail(`nested deeper than ${MAX_DEPTH} levels`);
    const value = first === "{" ? parseObject(pointer) : parseArray(pointer);
    depth -= 1;
    return value;
  };

  const parseScalar = (): JsonValue => {
    switch (text[at]) {
      case '"':
        return parseString();
      case "t":
        return literal("true", true);
      case "f":
        return literal("false", false);
      case "n":
        return literal("null", null);
      default:
        return parseNumber();
    }
  };

  const value = parseValue(withPointers ? "" : undefined);
  skipBlanks();
  if (at < text.length) {
    if (options.trailing === undefined) fail(`unexpected data after the end of the document: ${found()}`);
    else options.trailing(at);
  }
  return value;
}

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
