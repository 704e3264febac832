/** Configurations that went wrong somewhere: grammar-aware mutations, the same for the same seed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../support/programs.ts";

export type Random = (below: number) => number;
type Holder = Record<string, unknown> | unknown[];
interface Place {
  readonly holder: Holder;
  readonly key: string | number;
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
  readonly enum?: readonly unknown[];
}

const schema: Schema = JSON.parse(readFileSync(join(REPOSITORY, "build/gen/schema.json"), "utf8"));

/** Numbers beside the edges of what the fields hold; the large ones stand in the text as they are (EXACT). */
const NUMBERS = [
  0,
  -1,
  1,
  0.5,
  2 ** 16,
  2 ** 31 - 1,
  2 ** 31,
  -(2 ** 31),
  2 ** 32 - 1,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  2 ** 64,
  1e308,
  -1e-7,
  4095,
  1000,
];
const EXACT = [
  "9223372036854775807",
  "-9223372036854775808",
  "18446744073709551615",
  "18446744073709551616",
  "1e3",
  "1E400",
  "-0",
  "1.0",
  "0.1e1",
];
const TEXTS = [
  "",
  " ",
  "/",
  "//",
  "..",
  "/../..",
  "a\0b",
  "\ud800",
  "\udfff\ud800",
  "é",
  "e\u0301",
  "\u202e/cor",
  "😀".repeat(40),
  "\n",
  "%s%n",
  "$(id)",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty",
  "~0~1",
  "a/b~c",
  "0-",
  "0-99999",
  "1,,2",
  "-1",
  "1e9",
  "CAP_",
  "RLIMIT_",
  "SCMP_ACT_",
  "SCMP_ACT_ALLOW",
  "uids=0-1-1;gids=0-1-1",
  "idmap=",
  "size=",
  "mode=99999",
  "/proc/self/fd/0",
  "/dev/null",
  "user",
  "network",
  "bind",
  "sysctl",
] as const;
const LONG = [1_000, 8_192, 65_536];
/** The longest text: some 20 times what an engine writes. */
const LONGEST = 100_000;

/** Every container of the document with each of its keys. */
function places(root: unknown): Place[] {
  const found: Place[] = [];
  const walk = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    const keys = Array.isArray(value) ? [...value.keys()] : Object.keys(value);
    for (const key of keys) {
      found.push({ holder: value as Holder, key });
      walk((value as Record<string | number, unknown>)[key]);
    }
  };
  walk(root);
  return found;
}

const at = <T>(list: readonly T[], random: Random): T => list[random(list.length)] as T;
/** A copy: what stands in two places would make a circle sooner or later. */
const read = ({ holder, key }: Place): unknown => structuredClone((holder as Record<string | number, unknown>)[key]);

function write({ holder, key }: Place, value: unknown): void {
  // Also a key of the name __proto__ becomes one.
  Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
}

/** Stands in the text of the document as it is, not as a string. */
const verbatim = (text: string): string => `\u0001${text}\u0001`;

/** The deepest are too deep to be made as values. */
function nested(random: Random): unknown {
  const depth = at([10, 100, 3000, 100_000], random);
  return verbatim("[".repeat(depth) + "]".repeat(depth));
}

function anything(random: Random): unknown {
  const makers: readonly (() => unknown)[] = [
    () => at(NUMBERS, random),
    () => verbatim(at(EXACT, random)),
    () => at(TEXTS, random),
    () => at(["x", "é", "/a", "\\", ","], random).repeat(at(LONG, random)),
    () => at([null, true, false], random),
    () => [],
    () => ({}),
    () => nested(random),
    () => Array.from({ length: at([2, 50, 500], random) }, () => at([...TEXTS, 1, null], random)),
    () => Object.fromEntries(TEXTS.map((name) => [name, at(TEXTS, random)])),
  ];
  return at(makers, random)();
}

/** A value as the schema wants it, with edges for numbers and odd texts. */
function fromSchema(given: Schema, random: Random, depth = 0): unknown {
  const rule = given.$ref ? (schema.$defs?.[given.$ref.replace("#/$defs/", "")] ?? {}) : given;
  if (rule.enum) return at(rule.enum, random);
  const types = [rule.type ?? "string"].flat();
  const type = at(types.length > 1 ? types.filter((name) => name !== "null") : types, random);
  if (type === "object" && rule.properties)
    return Object.fromEntries(
      Object.entries(rule.properties)
        .filter(() => random(depth > 1 ? 2 : 3) > 0)
        .map(([name, part]) => [name, fromSchema(part, random, depth + 1)]),
    );
  if (type === "object") {
    const part = typeof rule.additionalProperties === "object" ? rule.additionalProperties : {};
    return { [at(TEXTS, random)]: fromSchema(part, random, depth + 1) };
  }
  if (type === "array") return Array.from({ length: random(3) }, () => fromSchema(rule.items ?? {}, random, depth + 1));
  if (type === "boolean") return random(2) === 0;
  return type === "integer" || type === "number" ? at(NUMBERS.filter(Number.isInteger), random) : at(TEXTS, random);
}

/** Put one of the sections of the specification anywhere below the fields that have sections. */
function insertSection(config: Record<string, unknown>, random: Random): void {
  let [rule, holder]: [Schema, Record<string, unknown>] = [schema, config];
  for (;;) {
    const name = at(Object.keys(rule.properties ?? {}), random);
    const part = rule.properties?.[name] ?? {};
    const inside = holder[name];
    if (part.properties && typeof inside === "object" && inside !== null && !Array.isArray(inside) && random(4) > 0) {
      [rule, holder] = [part, inside as Record<string, unknown>];
      continue;
    }
    holder[name] = fromSchema(part, random);
    return;
  }
}

/** One change of the document. */
function mutateOnce(config: Record<string, unknown>, random: Random): void {
  const all = places(config);
  const place = at(all, random);
  if (place === undefined || random(4) === 0) {
    insertSection(config, random);
    return;
  }
  const { holder, key } = place;
  const changes: readonly (() => void)[] = [
    () => write(place, anything(random)),
    () => (Array.isArray(holder) ? holder.splice(Number(key), 1) : delete holder[key]),
    () =>
      Array.isArray(holder)
        ? holder.push(...Array(at([1, 50], random)).fill(read(place)))
        : write({ holder, key: `${key}${at(["", "s", "\0"], random)}` }, 1),
    () => write({ holder, key: Array.isArray(holder) ? key : at([String(key).toUpperCase(), ...TEXTS], random) }, read(place)),
    () => write(place, read(at(all, random))),
    () => write(place, [read(place)]),
    () => write(place, typeof read(place) === "number" ? at(NUMBERS, random) : (JSON.stringify(read(place)) ?? "")),
  ];
  at(changes, random)();
}

/** Changes of the text: cut, doubled, keys repeated, bytes in the wrong place. */
function damage(text: string, random: Random): string {
  const [start, length] = [random(text.length), random(40) + 1];
  const part = text.slice(start, start + length);
  const changes: readonly (() => string)[] = [
    () => text.slice(0, start),
    () => text.slice(0, start) + text.slice(start + length),
    () => text.slice(0, start) + part + text.slice(start),
    () =>
      text.slice(0, start) +
      at(["{", "}", "[", "]", ",", ":", '"', "\\", "\0", "\ufeff", "//", "1e", "\u2028", "nul"], random) +
      text.slice(start),
    () => text.replace(/"(\w+)":/, (whole) => whole + `1,${whole}`.repeat(at([1, 300], random))),
    () => text + at([" ", "\0", "{}", text], random),
  ];
  return at(changes, random)();
}

/** The text of a mutant: mostly well-formed, with one to five changes. */
export function mutant(config: unknown, random: Random): string {
  const copy = structuredClone(config) as Record<string, unknown>;
  for (let count = random(5) + 1; count > 0; count--) {
    mutateOnce(copy, random);
    if (isFull(copy)) break;
  }
  const text = JSON.stringify(copy, undefined, random(2)).replace(/"\\u0001([^"\\]+)\\u0001"/g, "$1");
  return (random(5) === 0 ? damage(text, random) : text).slice(0, LONGEST);
}

/** Copies of copies grow: this is more than any configuration has, and can still be changed in no time. */
function isFull(root: unknown): boolean {
  const MOST = 20_000;
  const left: unknown[] = [root];
  for (let count = 0; left.length > 0; count++) {
    if (count > MOST) return true;
    const value = left.pop();
    if (typeof value === "object" && value !== null) left.push(...Object.values(value));
  }
  return false;
}
