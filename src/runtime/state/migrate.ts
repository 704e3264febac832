/**
 * Records of older builds, brought up to this one's minor version, one step a version. Loaded when there is such a record only. Nothing is
 * written: the record changes on disk when a verb writes it anyway.
 */
import type { AnyRecord } from "./record.ts";

/** STEPS[n] makes 1.(n+1) of 1.n. */
const STEPS: readonly ((record: AnyRecord) => AnyRecord)[] = [keepExec, unchanged, unchanged];

/** `record`: of this schema, with a minor version smaller than this one or, as before there were any, none. */
export function migrate(record: AnyRecord, minor: number): AnyRecord {
  const { minor: from = 0 } = record;
  const migrated = STEPS.slice(from as number, minor).reduce((older, step) => step(older), record);
  return { ...migrated, minor };
}

/**
 * The first builds of 1.0 had no exec. What they left out cannot be guessed: config.json may have changed, and a process without the
 * container's limits of rights would be a way out of it.
 */
function keepExec(record: AnyRecord): AnyRecord {
  return record["exec"] === undefined ? { ...record, exec: { unknown: true, namespaces: [], chroot: false, keyring: false } } : record;
}

/** What 1.2 and 1.3 have beside the version before an older container does not have. */
function unchanged(record: AnyRecord): AnyRecord {
  return record;
}
