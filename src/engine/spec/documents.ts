/** Parses YAML or JSON text into documents, or reports syntax errors with line and column. */
import { isScalar, LineCounter, parseAllDocuments, type ScalarTag, visit } from "yaml";
import { duplicates } from "./check/names.ts";
import { type Finding, type Problem, pointerOf } from "./finding.ts";
import { offsetOf, type Position, positionOf } from "./position.ts";

/** In bytes. A larger file is refused before it is parsed. */
export const LARGEST_FILE = 256 * 1024;
/** For one file. A file with more findings is probably not a task file. */
export const MOST_FINDINGS = 1000;
/** Limit for the expansion of YAML aliases (maxAliasCount of the library yaml): a few lines could expand to gigabytes. */
const MOST_ALIASES = 100;

export interface ReadDocument {
  readonly value: unknown;
  /** Syntax errors; if there are any, there is no value. */
  readonly findings: readonly Finding[];
  /** Converts a problem of the value to a finding with its position in the text. */
  place(problem: Problem): Finding;
}

export interface ReadOptions {
  /** Whether the key "<<" merges another map, as in YAML 1.1. */
  readonly merge?: boolean;
}

type Document = ReturnType<typeof documentsOf>[number];

/** Uses only `text`. A file that is too large or empty gives one document with that finding. @param what describes the expected content */
export function readDocuments(text: string, what: string, { merge = false }: ReadOptions = {}): readonly ReadDocument[] {
  if (Buffer.byteLength(text) > LARGEST_FILE) return refused(`the file is larger than ${LARGEST_FILE} bytes`);
  const lines = new LineCounter();
  try {
    const documents = documentsOf(text, lines, merge);
    return documents.length === 0 ? refused(`the file has no ${what} in it`) : documents.map((one, index) => read(one, index, lines));
  } catch (error) {
    // The YAML parser is recursive, so that deep nesting exceeds the call stack.
    if (error instanceof RangeError) return refused("the values are nested too deeply");
    throw error;
  }
}

/** Parses "0644" as octal, like Kubernetes and Compose (YAML 1.1). YAML 1.2 would read it as decimal. */
const OCTAL: ScalarTag = {
  tag: "tag:yaml.org,2002:int",
  default: true,
  test: /^0[0-7]+$/,
  resolve: (text) => Number.parseInt(text, 8),
};

function documentsOf(text: string, lineCounter: LineCounter, merge: boolean) {
  const parsed = parseAllDocuments(text, {
    lineCounter,
    ...{ version: "1.2", schema: "core", prettyErrors: false, uniqueKeys: false, merge },
    customTags: (tags) => [OCTAL, ...tags],
  });
  return "empty" in parsed ? [] : parsed.filter((document) => document.contents !== null || document.errors.length > 0);
}

function refused(message: string): readonly ReadDocument[] {
  const finding: Finding = { code: "syntax", message, pointer: "", document: 0, line: 1, column: 1 };
  return [{ value: undefined, findings: [finding], place: () => finding }];
}

function read(document: Document, index: number, lines: LineCounter): ReadDocument {
  const place = (problem: Problem) => placed(problem, document, index, lines);
  const syntax = (message: string, { line, column }: Position): Finding => ({
    code: "syntax",
    message,
    pointer: "",
    document: index,
    line,
    column,
  });
  // The library only warns about an unknown tag, but the value would silently have another type.
  const bad = [...document.errors, ...document.warnings].map(({ message, pos }) => ({ message, offset: pos[0] }));
  const wrong = [...bad, ...repeatedKeys(document)].slice(0, MOST_FINDINGS);
  if (wrong.length > 0)
    return { value: undefined, findings: wrong.map(({ message, offset }) => syntax(message, at(lines, offset))), place };
  try {
    return { value: document.toJS({ maxAliasCount: MOST_ALIASES }), findings: [], place };
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    return { value: undefined, findings: [syntax(error.message, at(lines, document.range[0]))], place };
  }
}

/** Duplicate keys are detected here, because the library compares each key with every other one. */
function repeatedKeys(document: Document): { message: string; offset: number }[] {
  const found: { message: string; offset: number }[] = [];
  visit(document, {
    Map(_, map) {
      const keys = map.items.map(({ key }) => (isScalar(key) ? String(key.value) : String(key)));
      for (const index of duplicates(keys)) {
        found.push({ message: `the key ${JSON.stringify(keys[index])} is there twice`, offset: offsetOf(map.items[index]!.key) ?? 0 });
      }
    },
  });
  return found;
}

function at(lines: LineCounter, offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(1, line), column: Math.max(1, col) };
}

function placed({ code, message, path }: Problem, document: Document, index: number, lines: LineCounter): Finding {
  return {
    code,
    message,
    pointer: pointerOf(path),
    document: index,
    ...positionOf(document.contents, path, (offset) => at(lines, offset)),
  };
}
