import { BASIC_CODES, type BasicCode, type Type } from "./types.ts";

/** Limits of the specification: bytes of a signature, arrays in arrays, structures in structures. */
const LONGEST = 255;
const DEEPEST = 32;

interface Cursor {
  readonly text: string;
  at: number;
}

/** A peer that sends ever new signatures gains nothing. */
const KNOWN_MOST = 64;
const known = new Map<string, readonly Type[]>();

/** "a(sv)u" -> the types in it, in order. @throws RangeError for what is no signature */
export function parseSignature(text: string): readonly Type[] {
  const found = known.get(text);
  if (found !== undefined) return found;
  const types = parse(text);
  if (known.size < KNOWN_MOST) known.set(text, types);
  return types;
}

function parse(text: string): Type[] {
  if (text.length > LONGEST) throw new RangeError(`signature of ${text.length} bytes`);
  const cursor: Cursor = { text, at: 0 };
  const types: Type[] = [];
  while (cursor.at < text.length) types.push(readType(cursor, 0, 0));
  return types;
}

/** A signature with exactly one type. @throws RangeError */
export function parseType(text: string): Type {
  const types = parseSignature(text);
  if (types.length !== 1) throw new RangeError(`"${text}" is not one type`);
  return types[0]!;
}

export function signatureOf(type: Type): string {
  switch (type.code) {
    case "a":
      return `a${signatureOf(type.element)}`;
    case "(":
      return `(${type.fields.map(signatureOf).join("")})`;
    case "{":
      return `{${signatureOf(type.key)}${signatureOf(type.value)}}`;
    default:
      return type.code;
  }
}

function readType(cursor: Cursor, arrays: number, structures: number): Type {
  if (arrays > DEEPEST || structures > DEEPEST) throw bad(cursor);
  const code = cursor.text[cursor.at++] ?? "";
  if (BASIC_CODES.has(code) || code === "v") return { code: code as BasicCode | "v" };
  if (code === "a") {
    if (cursor.text[cursor.at] === "{") return { code, element: readEntry(cursor, arrays + 1, structures) };
    return { code, element: readType(cursor, arrays + 1, structures) };
  }
  if (code === "(") return readStructure(cursor, arrays, structures + 1);
  throw bad(cursor);
}

function readStructure(cursor: Cursor, arrays: number, structures: number): Type {
  const fields: Type[] = [];
  while (cursor.text[cursor.at] !== ")") fields.push(readType(cursor, arrays, structures));
  cursor.at++;
  if (fields.length === 0) throw bad(cursor);
  return { code: "(", fields };
}

function readEntry(cursor: Cursor, arrays: number, structures: number): Type {
  cursor.at++;
  const key = readType(cursor, arrays, structures);
  if (!BASIC_CODES.has(key.code)) throw bad(cursor);
  const value = readType(cursor, arrays, structures + 1);
  if (cursor.text[cursor.at++] !== "}") throw bad(cursor);
  return { code: "{", key, value };
}

function bad({ text }: Cursor): RangeError {
  return new RangeError(`"${text}" is not a D-Bus signature`);
}
