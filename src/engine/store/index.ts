export { StoreError, type StoreErrorCode } from "./errors.ts";
export type { JournalEntry, JournalPage } from "./journal.ts";
export { type Migration, migrateStore } from "./open.ts";
export { type Change, type Contents, type RecordKind, Store, type StoredRecord, type StoreOptions } from "./store.ts";
