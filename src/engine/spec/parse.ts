/**
 * The text of a file of tasks -> TaskSpecs, or every finding with line and column. YAML or JSON; each document of the file is one task, and all of them
 * are one group.
 */
import { isScalar, LineCounter, parseAllDocuments, visit } from "yaml";
import { checkGroup } from "./check/group.ts";
import { duplicates } from "./check/names.ts";
import { checkTask } from "./check/task.ts";
import { type Finding, type Problem, pointerOf } from "./finding.ts";
import { offsetOf, type Position, positionOf } from "./position.ts";
import { type TaskSpec, task } from "./schema/task.ts";
import { shapeProblems } from "./shape.ts";

/** A larger file is refused before it is read as YAML. */
export const LARGEST_FILE = 256 * 1024;
/** Of one file. Who has more has given the wrong file. */
const MOST_FINDINGS = 1000;
/** How many nodes aliases may multiply to (yaml's maxAliasCount): a few lines could stand for gigabytes. */
const MOST_ALIASES = 100;

export interface ParsedFile {
  /** Empty when there are findings. */
  readonly tasks: readonly TaskSpec[];
  readonly findings: readonly Finding[];
}

type Document = ReturnType<typeof documentsOf>[number];

/** Reads nothing but `text`. Every finding of the file is there, up to 1000, in the order of its lines. */
export function parseTasks(text: string): ParsedFile {
  if (Buffer.byteLength(text) > LARGEST_FILE) return refused(`the file is larger than ${LARGEST_FILE} bytes`);
  const lines = new LineCounter();
  let documents: Document[];
  try {
    documents = documentsOf(text, lines);
  } catch (error) {
    // The parser of yaml calls itself for each level.
    if (error instanceof RangeError) return refused("the values are nested too deeply");
    throw error;
  }
  if (documents.length === 0) return refused("the file has no task in it");
  const read = documents.map((document, index) => readDocument(document, index, lines));
  const findings = read.flatMap((one) => one.findings);
  const tasks = read.flatMap((one) => (one.task === undefined ? [] : [one.task]));
  if (tasks.length === documents.length) {
    for (const { task: index, ...problem } of checkGroup(tasks)) findings.push(place(problem, documents[index]!, index, lines));
  }
  findings.splice(MOST_FINDINGS);
  findings.sort((a, b) => a.line - b.line || a.column - b.column);
  return { tasks: findings.length === 0 ? tasks : [], findings };
}

function documentsOf(text: string, lineCounter: LineCounter) {
  const parsed = parseAllDocuments(text, { lineCounter, version: "1.2", schema: "core", prettyErrors: false, uniqueKeys: false });
  return "empty" in parsed ? [] : parsed.filter((document) => document.contents !== null || document.errors.length > 0);
}

function refused(message: string): ParsedFile {
  return { tasks: [], findings: [{ code: "syntax", message, pointer: "", document: 0, line: 1, column: 1 }] };
}

function readDocument(document: Document, index: number, lines: LineCounter): { task?: TaskSpec; findings: Finding[] } {
  const syntax = (message: string, { line, column }: Position): Finding => ({
    code: "syntax",
    message,
    pointer: "",
    document: index,
    line,
    column,
  });
  // A tag that nobody knows is a warning to yaml: the value would silently be something else.
  const bad = [...document.errors, ...document.warnings].map(({ message, pos }) => ({ message, offset: pos[0] }));
  const wrong = [...bad, ...repeatedKeys(document)].slice(0, MOST_FINDINGS);
  if (wrong.length > 0) return { findings: wrong.map(({ message, offset }) => syntax(message, at(lines, offset))) };
  let value: unknown;
  try {
    value = document.toJS({ maxAliasCount: MOST_ALIASES });
  } catch (error) {
    if (!(error instanceof ReferenceError || error instanceof RangeError)) throw error;
    return { findings: [syntax(error.message, at(lines, document.range[0]))] };
  }
  const parsed = task.safeParse(value);
  const problems = parsed.success ? checkTask(parsed.data) : shapeProblems(parsed.error);
  const findings = problems.slice(0, MOST_FINDINGS).map((problem) => place(problem, document, index, lines));
  return parsed.success ? { task: parsed.data, findings } : { findings };
}

/** yaml would compare each key with each other one. */
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

function place({ code, message, path }: Problem, document: Document, index: number, lines: LineCounter): Finding {
  return {
    code,
    message,
    pointer: pointerOf(path),
    document: index,
    ...positionOf(document.contents, path, (offset) => at(lines, offset)),
  };
}
