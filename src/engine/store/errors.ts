/** Errors of the store: a stable code, and details. */

export type StoreErrorCode =
  /** Another daemon uses this state directory. */
  | "in-use"
  /** The state directory was copied or moved: the store was written in another directory. */
  | "moved"
  /** The directory or the database belongs to another user, or others may write to it. */
  | "not-ours"
  /** A newer version of this program has written the database. */
  | "newer-schema"
  /** The version of the schema is unknown, or there is no store to convert. */
  | "unknown-schema"
  /** The file is not a database, or its structure is damaged. */
  | "unreadable"
  /** The disk is full or read-only, the file was deleted, or there was an I/O error. Nothing of the transaction is stored. */
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

/** Source: result codes of SQLite, https://www.sqlite.org/rescode.html. */
const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/** Whether the error means that the disk is full: SQLite has no room for data, or cannot make one of its files beside the database. */
export function isFull(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode === SQLITE_FULL || errcode === SQLITE_CANTOPEN;
}

/** Whether the error means that another process holds the lock. */
export function isLocked(error: unknown): boolean {
  const { errcode } = error as { errcode?: number };
  return errcode === SQLITE_BUSY || errcode === SQLITE_LOCKED;
}
