/** A D-Bus value -> GVariant text that `parseGvariant` reads as the same value. */
import { parseType } from "../wire/signature.ts";
import type { Type, Value, Variant } from "../wire/types.ts";

/** Types that GVariant gives a value by itself. */
const PLAIN = new Set(["b", "i", "s", "d", "v"]);
const KEYWORDS: Readonly<Record<string, string>> = {
  y: "byte",
  n: "int16",
  q: "uint16",
  u: "uint32",
  x: "int64",
  t: "uint64",
  o: "objectpath",
  g: "signature",
};

/** "uint64 5", "'text'", "@as ['a', 'b']". */
export function printGvariant({ signature, value }: Variant): string {
  const type = parseType(signature);
  const text = print(type, value);
  if (PLAIN.has(type.code)) return text;
  const keyword = KEYWORDS[type.code];
  return keyword === undefined ? `@${signature} ${text}` : `${keyword} ${text}`;
}

/** Without its type, which stands in front of the whole. */
function print(type: Type, value: Value): string {
  switch (type.code) {
    case "a":
      return printArray(type.element, [...(value as readonly Value[])]);
    case "(": {
      const items = type.fields.map((field, index) => print(field, (value as readonly Value[])[index]!));
      return items.length === 1 ? `(${items[0]},)` : `(${items.join(", ")})`;
    }
    case "{": {
      const [key, inner] = value as readonly [Value, Value];
      return `${print(type.key, key)}: ${print(type.value, inner)}`;
    }
    case "v":
      return `<${printGvariant(value as Variant)}>`;
    case "s":
    case "o":
    case "g":
      return quote(value as string);
    case "d":
      return printDouble(value as number);
    default:
      return String(value);
  }
}

function printArray(element: Type, items: readonly Value[]): string {
  const texts = items.map((item) => print(element, item)).join(", ");
  return element.code === "{" ? `{${texts}}` : `[${texts}]`;
}

function quote(text: string): string {
  return `'${Array.from(text, escapeCharacter).join("")}'`;
}

function escapeCharacter(character: string): string {
  if (character === "'" || character === "\\") return `\\${character}`;
  const point = character.codePointAt(0)!;
  return point < 0x20 || point === 0x7f ? `\\u${point.toString(16).padStart(4, "0")}` : character;
}

function printDouble(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value < 0 ? "-inf" : "inf";
  const text = Object.is(value, -0) ? "-0" : String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}
