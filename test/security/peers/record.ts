/** What was found with Podman and Docker, kept in record.json: a host without one of them changes nothing of what is known about it. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding, PeerName } from "./names.ts";

export interface PeerRecord {
  readonly version: string;
  readonly findings: Readonly<Record<string, Finding>>;
}

export type PeerRecords = Partial<Readonly<Record<PeerName, PeerRecord>>>;

export const RECORD = join(import.meta.dirname, "record.json");

export function recorded(): PeerRecords {
  return existsSync(RECORD) ? JSON.parse(readFileSync(RECORD, "utf8")) : {};
}

/** Pure. A peer that was attacked now has what was found now, and of attacks that were left out what was known of this version. */
export function merged(known: PeerRecords, now: PeerRecords): PeerRecords {
  const names = [...new Set([...Object.keys(known), ...Object.keys(now)])] as PeerName[];
  return Object.fromEntries(
    names.map((name) => {
      const [before, after] = [known[name], now[name]];
      if (after === undefined || before?.version !== after.version) return [name, after ?? before];
      return [name, { ...after, findings: { ...before.findings, ...after.findings } }];
    }),
  );
}

/** A cell of the table. Pure. */
export function cellOf(record: PeerRecord | undefined, id: string): string {
  if (record === undefined) return "was not here";
  const found = record.findings[id];
  if (found === undefined) return "not tried";
  return found.word === "no counterpart" ? `${found.word} (${found.detail})` : `${found.word}: ${found.detail}`.replaceAll("|", "\\|");
}
