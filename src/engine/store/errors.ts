/** Errors of the store: a stable code, and details. */

export type StoreErrorCode =
  /** Another daemon has this state directory. */
  | "in-use"
  /** The directory or its file belongs to another user, or others may write into it. */
  | "not-ours"
  /** The file was written by a newer version of this program. */
  | "newer-schema"
  /** The version of the schema is unknown, or there is no store to convert. */
  | "unknown-schema"
  /** The file is no database, or its structure is damaged. */
  | "unreadable"
  /** It could not be written: the disk is full or read-only, or there was an I/O error. Nothing of this transaction is in it. */
  | "not-written";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;
  readonly path: string;

  constructor(code: StoreErrorCode, path: string, message: string, cause?: unknown) {
    super(`${path}: ${message}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.path = path;
  }
}

/** Result codes of SQLite: https://www.sqlite.org/rescode.html */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;

/** Whether the error means that the disk is full. */
export function isFull(error: unknown): boolean {
  return (error as { errcode?: number }).errcode === SQLITE_FULL;
}

/** Whether the error means that another process holds the lock. */
export function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode === SQLITE_BUSY || errcode === SQLITE_LOCKED;
}
