/** Parses YAML or JSON text into documents, or reports syntax errors with line and column. */
import { isPair, isScalar, type LineCounter, visit } from "yaml";
import { duplicates } from "./check/names.ts";
import { type Finding, type Problem, pointerOf } from "./finding.ts";
import { GO_TAGS } from "./numeral.ts";
import { offsetOf, type Position, positionOf } from "./position.ts";
import { checkAliases, Extents, type Parsed, parsed, TooMuch } from "./syntax.ts";

/** In bytes. A larger file is refused before it is parsed. */
export const LARGEST_FILE = 256 * 1024;
/** For one file. A file with more findings is probably not a task file. */
export const MOST_FINDINGS = 1000;
export interface ReadDocument {
  readonly value: unknown;
  /** Syntax errors; if there are any, there is no value. */
  readonly findings: readonly Finding[];
  /** With `ReadOptions.repeats`: keys that occur twice in a map. The value has what the last one says. */
  readonly repeated?: readonly Finding[];
  /** Values that have one of the tags in `ReadOptions.tags`. */
  readonly tagged: readonly Tagged[];
  /** Converts a problem of the value to a finding with its position in the text. */
  place(problem: Problem): Finding;
}

export interface Tagged {
  readonly path: readonly string[];
  /** Such as "!reset". */
  readonly tag: string;
}

export interface ReadOptions {
  /** Whether the key "<<" merges another map, as in YAML 1.1. */
  readonly merge?: boolean;
  /** Tags that values may have. Each is reported in `tagged`, because the value does not show it. */
  readonly tags?: readonly string[];
  /** Whether a key that is a number or a boolean without quotes is an error. */
  readonly textKeys?: boolean;
  /** Whether a key may occur twice in a map. */
  readonly repeats?: boolean;
  /** Whether values without quotes are read as Go's YAML library reads them. The value then has instances of Numeral and Timestamp. */
  readonly ofGo?: boolean;
}

type Document = Parsed["documents"][number];

/** Uses only `text`. If the file is too large or empty, the result is one document with that finding. @param what describes the expected content */
export function readDocuments(
  text: string,
  what: string,
  { merge = false, tags = [], textKeys = false, repeats = false, ofGo = false }: ReadOptions = {},
): readonly ReadDocument[] {
  if (Buffer.byteLength(text) > LARGEST_FILE) return refused(`the file is larger than ${LARGEST_FILE} bytes`);
  try {
    const { documents, lines } = parsed(text, merge, ofGo ? GO_TAGS : undefined);
    const present = documents.filter(({ contents, errors }) => contents !== null || errors.length > 0);
    const extents = new Extents();
    return present.length === 0
      ? refused(`the file has no ${what} in it`)
      : present.map((one, index) => read(one, { index, lines, extents, tags, textKeys, repeats }));
  } catch (error) {
    if (error instanceof TooMuch) return refused(error.message);
    throw error;
  }
}

function refused(message: string): readonly ReadDocument[] {
  const finding: Finding = { code: "syntax", message, pointer: "", document: 0, line: 1, column: 1 };
  return [{ value: undefined, findings: [finding], tagged: [], place: () => finding }];
}

interface Reading {
  readonly index: number;
  readonly lines: LineCounter;
  readonly extents: Extents;
  readonly tags: readonly string[];
  readonly textKeys: boolean;
  readonly repeats: boolean;
}

function read(document: Document, { index, lines, extents, tags, textKeys, repeats }: Reading): ReadDocument {
  const place = (problem: Problem) => toFinding(problem, document, index, lines);
  const syntax = (message: string, { line, column }: Position): Finding => ({
    code: "syntax",
    message,
    pointer: "",
    document: index,
    line,
    column,
  });
  // The library only warns about an unknown tag, but the value would silently have another type.
  const warnings = document.warnings.filter(
    ({ code, message }) => code !== "TAG_RESOLVE_FAILED" || !tags.some((tag) => message.endsWith(` ${tag}`)),
  );
  const bad = [...document.errors.slice(0, MOST_FINDINGS), ...warnings.slice(0, MOST_FINDINGS)].map(({ message, pos }) => ({
    message,
    offset: pos[0],
  }));
  const keys = bad.length >= MOST_FINDINGS ? [] : wrongKeys(document, textKeys);
  const isTaken = ({ isRepeated }: WrongKey) => repeats && isRepeated === true;
  const wrong = [...bad, ...keys.filter((one) => !isTaken(one))].slice(0, MOST_FINDINGS);
  if (wrong.length > 0)
    return {
      value: undefined,
      findings: wrong.map(({ message, offset }) => syntax(message, positionAt(lines, offset))),
      tagged: [],
      place,
    };
  try {
    checkAliases(document);
    const value: unknown = document.toJS({ maxAliasCount: -1 });
    extents.add(value);
    const repeated = keys
      .filter(isTaken)
      .slice(0, MOST_FINDINGS)
      .map(({ message, offset }) => syntax(message, positionAt(lines, offset)));
    return { value, findings: [], ...(repeated.length === 0 ? {} : { repeated }), tagged: taggedIn(document, tags), place };
  } catch (error) {
    if (error instanceof TooMuch) throw error;
    return { value: undefined, findings: [syntax(whyNoValue(error as Error), positionAt(lines, document.range[0]))], tagged: [], place };
  }
}

/** The library's message about a document without a value: an alias without an anchor, too many aliases, or a merge of something other than maps. */
function whyNoValue({ message }: Error): string {
  return message.startsWith("Merge sources") ? 'what the key "<<" merges is a map, or a list of maps' : message;
}

function taggedIn(document: Document, tags: readonly string[]): Tagged[] {
  const found: Tagged[] = [];
  if (tags.length === 0) return found;
  visit(document, {
    Pair(_, { key, value }, parents) {
      const { tag } = (value ?? {}) as { tag?: string };
      if (tag === undefined || !tags.includes(tag)) return;
      const keys = [...parents.filter((one) => isPair(one)).map((one) => one.key), key];
      found.push({ path: keys.map((one) => (isScalar(one) ? String(one.value) : "")), tag });
    },
  });
  return found;
}

/** The key that merges another map, which the library has as a symbol. */
const MERGE = "<<";

function textOf(key: unknown): string {
  return typeof key === "symbol" ? MERGE : String(key);
}

interface WrongKey {
  readonly message: string;
  readonly offset: number;
  /** Set if a library of YAML could take the last of both. */
  readonly isRepeated?: true;
}

/** Finds keys that occur twice, or that are maps or lists. The library could find duplicates, but it compares each key with every other one. */
function wrongKeys(document: Document, textKeys: boolean): WrongKey[] {
  const found: WrongKey[] = [];
  visit(document, {
    Map(_, map) {
      const offsetAt = (index: number) => offsetOf(map.items[index]!.key) ?? 0;
      const isWrong = (key: unknown) => !isScalar(key) && key !== null;
      for (const [index, { key }] of map.items.entries())
        if (isWrong(key)) found.push({ message: "a key is a text", offset: offsetAt(index) });
        else if (textKeys && isScalar(key) && !["string", "symbol"].includes(typeof key.value))
          found.push({ message: `a key is a text: write ${JSON.stringify(String(key.value))} in quotes`, offset: offsetAt(index) });
      const keys = map.items.flatMap(({ key }, index) =>
        isWrong(key) ? [] : [{ index, text: isScalar(key) ? textOf(key.value) : "null" }],
      );
      for (const at of duplicates(keys.map(({ text }) => text))) {
        const { index, text } = keys[at]!;
        const message = `the key ${JSON.stringify(text)} is there twice`;
        const offset = offsetAt(index);
        if (text === MERGE) found.push({ message: `${message}: write one with a list, as in <<: [*a, *b]`, offset });
        else found.push({ message, offset, isRepeated: true });
      }
    },
  });
  return found;
}

function positionAt(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function toFinding({ code, message, path }: Problem, document: Document, index: number, lines: LineCounter): Finding {
  return {
    code,
    message,
    pointer: pointerOf(path),
    document: index,
    ...positionOf(document, path, (offset) => positionAt(lines, offset)),
  };
}
