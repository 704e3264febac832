/**
 * Parses YAML in time and memory that are proportional to its length. The parser is recursive, and the JavaScript engine ends the process if it has
 * to compile a regular expression while the stack is nearly full. Therefore the depth is limited while the text is read, and not afterwards.
 */
import {
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type ParsedNode,
  Parser,
  type ScalarTag,
} from "yaml";

/** Levels of maps and lists. A pod has a dozen of them. */
const MOST_LEVELS = 100;
/** Documents of one file. */
const MOST_DOCUMENTS = 1000;
/** Values of one file, those of aliases counted as often as they are used. */
const MOST_VALUES = 100_000;
/** Characters of all keys and texts of one file, counted in the same way. */
const MOST_CHARACTERS = 2 * 1024 * 1024;

/** The file exceeds one of the limits above. The message names the limit. */
export class TooMuch extends Error {}

/** Parses "0644" as octal, like Kubernetes and Compose (YAML 1.1). YAML 1.2 would read it as decimal. */
const OCTAL: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

export interface Parsed {
  readonly documents: readonly Document.Parsed<ParsedNode>[];
  readonly lines: LineCounter;
}

/** @param own kinds of plain values that come before those of YAML 1.2. @throws TooMuch */
export function parsed(text: string, merge: boolean, own: readonly ScalarTag[] = [OCTAL]): Parsed {
  const lines = new LineCounter();
  const composer = new Composer<ParsedNode>({
    ...{ version: "1.2", schema: "core", prettyErrors: false, uniqueKeys: false, merge, lineCounter: lines },
    customTags: (tags) => [...own, ...tags],
  });
  const documents: Document.Parsed<ParsedNode>[] = [];
  const { stackTraceLimit } = Error;
  // Each syntax error is an Error object, and a text may cause one for each character. Collecting their stacks would take most of the time.
  Error.stackTraceLimit = 0;
  try {
    for (const document of composer.compose(tokensOf(text, lines))) {
      documents.push(document as Document.Parsed<ParsedNode>);
      if (documents.length > MOST_DOCUMENTS) throw new TooMuch(`the file has more than ${MOST_DOCUMENTS} documents`);
    }
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
  return { documents, lines };
}

function* tokensOf(text: string, lines: LineCounter) {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    yield* parser.next(lexeme);
    // The stack also holds the document itself and the value at the end, which are no levels.
    if (parser.stack.length > MOST_LEVELS + 2) throw tooDeep();
  }
  yield* parser.end();
}

function tooDeep(): TooMuch {
  return new TooMuch(`the values are nested too deeply: ${MOST_LEVELS} levels are the most`);
}

/**
 * Counts the values that aliases and the key "<<" would copy, before they are copied. An alias comes after its anchor, so that the size of the
 * anchor is known.
 * @throws TooMuch
 */
export function checkAliases(document: Document): void {
  const counted = new Map<string, number>();
  const count = (node: unknown): number => {
    if (isAlias(node)) return counted.get(node.source) ?? 1;
    let values = 1;
    if (isMap(node)) for (const { key, value } of node.items) values += count(value) + (isScalar(key) ? 0 : 1);
    else if (isSeq(node)) for (const one of node.items) values += count(one);
    if (values > MOST_VALUES) throw new TooMuch(`the file has more than ${MOST_VALUES} values, those of aliases counted`);
    const { anchor } = (node ?? {}) as { anchor?: string };
    if (anchor !== undefined) counted.set(anchor, values);
    return values;
  };
  count(document.contents);
}

/** Size of a value with everything in it. A value that is used twice counts twice. */
interface Extent {
  readonly values: number;
  readonly characters: number;
  readonly levels: number;
}

/** Counts the values of all documents of a file. All aliases of an anchor give the same object, which is measured once. */
export class Extents {
  readonly #known = new Map<object, Extent>();
  #values = 0;
  #characters = 0;

  /** @throws TooMuch */
  add(value: unknown): void {
    const { values, characters } = this.#extentOf(value, 0);
    this.#values += values;
    this.#characters += characters;
    if (this.#values > MOST_VALUES) throw new TooMuch(`the file has more than ${MOST_VALUES} values, those of aliases counted`);
    if (this.#characters > MOST_CHARACTERS)
      throw new TooMuch(`the file has more than ${MOST_CHARACTERS} characters, those of aliases counted`);
  }

  #extentOf(value: unknown, depth: number): Extent {
    if (typeof value === "string") return { values: 1, characters: value.length, levels: 0 };
    if (typeof value !== "object" || value === null) return { values: 1, characters: 0, levels: 0 };
    if (depth >= MOST_LEVELS) throw tooDeep();
    const known = this.#known.get(value);
    if (known !== undefined) {
      if (depth + known.levels > MOST_LEVELS) throw tooDeep();
      return known;
    }
    let [values, characters, levels] = [1, 0, 0];
    for (const [key, one] of Object.entries(value)) {
      const inner = this.#extentOf(one, depth + 1);
      values += inner.values;
      characters += inner.characters + (Array.isArray(value) ? 0 : key.length);
      levels = Math.max(levels, inner.levels);
    }
    const extent = { values, characters, levels: levels + 1 };
    this.#known.set(value, extent);
    return extent;
  }
}
