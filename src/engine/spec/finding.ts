/** Findings: errors of a task file, with their positions. */

export type FindingCode =
  /** The text is no YAML. */
  | "syntax"
  /** A field is missing, unknown, or of the wrong shape. */
  | "shape"
  | "duplicate-name"
  | "unknown-reference"
  /** Two fields that exclude each other, or one that needs another. */
  | "combination"
  | "dependency-cycle"
  /** It waits for something that cannot happen. */
  | "dependency-never"
  | "limit"
  | "reserved-annotation"
  | "unknown-signal"
  | "unknown-capability";

/** One thing that is wrong with a value: which part of it, as keys and indices. */
export interface Problem {
  readonly code: FindingCode;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

export interface Finding {
  readonly code: FindingCode;
  readonly message: string;
  /** JSON pointer within its document: "/containers/0/memory". */
  readonly pointer: string;
  /** Number of the document in the file, from 0. */
  readonly document: number;
  /** From 1. */
  readonly line: number;
  readonly column: number;
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** "web.yaml:3:5: /containers/0/memory: ..." */
export function renderFinding({ line, column, pointer, message }: Finding, source: string): string {
  return `${source}:${line}:${column}: ${pointer === "" ? "" : `${pointer}: `}${message}`;
}
