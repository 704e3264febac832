/** Findings: errors of a task file, with their positions. */

export type FindingCode =
  /** The text is not valid YAML. */
  | "syntax"
  /** A field is missing, unknown, or of the wrong shape. */
  | "shape"
  | "duplicate-name"
  | "unknown-reference"
  /** Two fields exclude each other, or one needs another. */
  | "combination"
  | "dependency-cycle"
  /** A dependency can never be satisfied. */
  | "dependency-never"
  | "limit"
  | "reserved-annotation"
  | "unknown-signal"
  | "unknown-capability";

/** A problem of a value, with the path to the part that is wrong, as keys and indices. */
export interface Problem {
  readonly code: FindingCode;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

export interface Finding {
  readonly code: FindingCode;
  readonly message: string;
  /** JSON pointer into the document, such as "/containers/0/memory". */
  readonly pointer: string;
  /** Index of the document in the file, from 0. */
  readonly document: number;
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  /** Path of the file; absent: the file that the caller named. Another file was included by it or merged with it. */
  readonly file?: string;
}

export function pointerOf(path: readonly (string | number)[]): string {
  return path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

export function pathOf(pointer: string): readonly string[] {
  return pointer
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

/** Such as "web.yaml:3:5: /containers/0/memory: ...". */
export function renderFinding({ line, column, pointer, message, file }: Finding, source: string): string {
  return `${file ?? source}:${line}:${column}: ${pointer === "" ? "" : `${pointer}: `}${message}`;
}
