/** The one error type that crosses layers: a stable code, the exit status, the words clients match on, and where it points. */
import { CATALOGUE, type ErrorCode } from "./catalogue.ts";

export interface ErrorDetails {
  /** JSON pointer into config.json. */
  readonly pointer?: string;
  /** Of an error about config.json: the code of the finding that `runt validate` has for it (docs/findings.md). */
  readonly finding?: string;
  /** 1-based position in the file, for syntax errors. */
  readonly line?: number;
  readonly column?: number;
  readonly hint?: string;
  /** Instead of the code's own, and of the verb's. */
  readonly exitStatus?: number;
  readonly cause?: unknown;
}

export class RuntError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}) {
    super(message);
    this.name = "RuntError";
    this.code = code;
    this.details = details;
  }

  get exitStatus(): number {
    return this.details.exitStatus ?? CATALOGUE[this.code].exit;
  }
}
