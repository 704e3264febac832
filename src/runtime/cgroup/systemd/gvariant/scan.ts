/** GVariant text -> a tree whose numbers and brackets have no type yet. Source: GLib, "GVariant Text Format". */
import { parseType } from "../wire/signature.ts";
import type { BasicCode, Type } from "../wire/types.ts";

export type Node =
  | { readonly kind: "boolean"; readonly value: boolean }
  /** As written, with its sign; "0x1f", "017", "1e3", "inf". */
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "bytes"; readonly value: Uint8Array }
  | { readonly kind: "array" | "structure" | "dictionary"; readonly items: readonly Node[] }
  /** A key and its value. */
  | { readonly kind: "entry"; readonly items: readonly [Node, Node] }
  | { readonly kind: "variant"; readonly value: Node }
  | { readonly kind: "typed"; readonly type: Type; readonly value: Node };

const LONGEST = 65_536;
const DEEPEST = 32;

const KEYWORDS: Readonly<Record<string, BasicCode>> = {
  boolean: "b",
  byte: "y",
  int16: "n",
  uint16: "q",
  int32: "i",
  uint32: "u",
  int64: "x",
  uint64: "t",
  double: "d",
  string: "s",
  objectpath: "o",
  signature: "g",
};

const SIMPLE_ESCAPES: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
};

interface Cursor {
  readonly text: string;
  at: number;
}

/** The whole text as one value. @throws RangeError that says what was met where */
export function scan(text: string): Node {
  if (text.length > LONGEST) throw new RangeError(`longer than ${LONGEST} characters`);
  const cursor: Cursor = { text, at: 0 };
  const node = scanValue(cursor, 0);
  skipBlanks(cursor);
  if (cursor.at < text.length) throw unexpected(cursor);
  return node;
}

function scanValue(cursor: Cursor, depth: number): Node {
  if (depth > DEEPEST) throw new RangeError("nested too deep");
  skipBlanks(cursor);
  const { text, at } = cursor;
  switch (text[at]) {
    case "[":
      return { kind: "array", items: scanList(cursor, "]", depth) };
    case "(":
      return scanStructure(cursor, depth);
    case "{":
      return scanBraces(cursor, depth);
    case "<":
      return scanVariant(cursor, depth);
    case "@":
      return scanTyped(cursor, depth);
    case "'":
    case '"':
      return { kind: "string", value: scanString(cursor) };
    case "b":
      if (text[at + 1] === "'" || text[at + 1] === '"') return { kind: "bytes", value: scanBytes(cursor) };
  }
  return scanWord(cursor, depth);
}

function scanWord(cursor: Cursor, depth: number): Node {
  const number = match(cursor, /[+-]?(?:0[xX][0-9a-fA-F]+|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|inf\b|nan\b)(?![\w.])/y);
  if (number !== undefined) return { kind: "number", text: number };
  const start = cursor.at;
  const word = match(cursor, /[a-z0-9]+/y) ?? "";
  if (word === "true" || word === "false") return { kind: "boolean", value: word === "true" };
  if (!Object.hasOwn(KEYWORDS, word)) {
    cursor.at = start;
    throw unexpected(cursor);
  }
  return { kind: "typed", type: { code: KEYWORDS[word]! }, value: scanValue(cursor, depth + 1) };
}

/** `@type value`. */
function scanTyped(cursor: Cursor, depth: number): Node {
  cursor.at++;
  const signature = match(cursor, /[a-z(){}]+/y) ?? "";
  const type = parseType(signature);
  return { kind: "typed", type, value: scanValue(cursor, depth + 1) };
}

function scanVariant(cursor: Cursor, depth: number): Node {
  cursor.at++;
  const value = scanValue(cursor, depth + 1);
  expect(cursor, ">");
  return { kind: "variant", value };
}

/** Items between commas; the opening bracket is the current character. */
function scanList(cursor: Cursor, close: string, depth: number): Node[] {
  cursor.at++;
  const items: Node[] = [];
  while (!accept(cursor, close)) {
    if (items.length > 0) expect(cursor, ",");
    items.push(scanValue(cursor, depth + 1));
  }
  return items;
}

/** A structure of one field is written `(1,)`. */
function scanStructure(cursor: Cursor, depth: number): Node {
  cursor.at++;
  const items: Node[] = [];
  let comma = true;
  while (!accept(cursor, ")")) {
    if (!comma) throw unexpected(cursor);
    items.push(scanValue(cursor, depth + 1));
    comma = accept(cursor, ",");
  }
  if (items.length === 0 || (items.length === 1) !== comma) throw new RangeError("a structure is (a,) or (a, b)");
  return { kind: "structure", items };
}

/** `{key: value, ...}` or the single entry `{key, value}`. */
function scanBraces(cursor: Cursor, depth: number): Node {
  cursor.at++;
  const entries: Node[] = [];
  while (!accept(cursor, "}")) {
    if (entries.length > 0) expect(cursor, ",");
    const key = scanValue(cursor, depth + 1);
    if (entries.length === 0 && accept(cursor, ",")) {
      const value = scanValue(cursor, depth + 1);
      expect(cursor, "}");
      return { kind: "entry", items: [key, value] };
    }
    expect(cursor, ":");
    entries.push({ kind: "entry", items: [key, scanValue(cursor, depth + 1)] });
  }
  return { kind: "dictionary", items: entries };
}

function scanString(cursor: Cursor): string {
  const quote = cursor.text[cursor.at++];
  let value = "";
  for (;;) {
    const character = cursor.text[cursor.at++];
    if (character === undefined) throw new RangeError("a string without its end");
    if (character === quote) return value;
    value += character === "\\" ? scanEscape(cursor) : character;
  }
}

function scanEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.at++] ?? "";
  const simple = SIMPLE_ESCAPES[letter];
  if (simple !== undefined) return simple;
  const digits = letter === "u" ? match(cursor, /[0-9a-fA-F]{4}/y) : letter === "U" ? match(cursor, /[0-9a-fA-F]{8}/y) : undefined;
  const point = digits === undefined ? Number.NaN : Number.parseInt(digits, 16);
  if (!(point > 0 && point <= 0x10_ffff) || (point >= 0xd800 && point < 0xe000)) throw new RangeError(`unknown escape \\${letter}`);
  return String.fromCodePoint(point);
}

/** `b'...'`: one byte a character or escape (up to three octal digits), and a NUL at the end. */
function scanBytes(cursor: Cursor): Uint8Array {
  const quote = cursor.text[cursor.at + 1]!;
  cursor.at += 2;
  const bytes: number[] = [];
  for (;;) {
    const character = cursor.text[cursor.at++];
    if (character === undefined) throw new RangeError("a byte string without its end");
    if (character === quote) return Uint8Array.from([...bytes, 0]);
    const octal = character === "\\" ? match(cursor, /[0-7]{1,3}/y) : undefined;
    const simple = character === "\\" && octal === undefined ? SIMPLE_ESCAPES[cursor.text[cursor.at++] ?? ""] : character;
    const byte = octal === undefined ? simple?.charCodeAt(0) : Number.parseInt(octal, 8);
    if (byte === undefined || byte > 0xff) throw new RangeError("a byte string with something that is no byte");
    bytes.push(byte);
  }
}

function skipBlanks(cursor: Cursor): void {
  match(cursor, /\s+/y);
}

/** The text that a sticky pattern matches here; the cursor goes behind it. */
function match(cursor: Cursor, pattern: RegExp): string | undefined {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0];
  if (found !== undefined) cursor.at += found.length;
  return found;
}

function accept(cursor: Cursor, character: string): boolean {
  skipBlanks(cursor);
  if (cursor.text[cursor.at] !== character) return false;
  cursor.at++;
  return true;
}

function expect(cursor: Cursor, character: string): void {
  if (!accept(cursor, character)) throw unexpected(cursor);
}

function unexpected({ text, at }: Cursor): RangeError {
  const met = text[at];
  return new RangeError(met === undefined ? "ends too early" : `unexpected "${met}" at character ${at + 1}`);
}
