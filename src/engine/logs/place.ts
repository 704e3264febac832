/** A position in a log, from which another reader or process can continue later: "INODE-OFFSET-FIRST". */
import { fstatSync, readSync } from "node:fs";
import { parseRecord } from "./record.ts";
import type { Segment } from "./segments.ts";

const PLACE = /^(\d+)-(\d+)-(\d*)$/;
/** Large enough for the time of a record, which is its first field. */
const HEAD_BYTES = 64;

/** The digits of the time of the file's first record; empty if there is no record. They distinguish files that had the same inode number one after the other. */
export function firstOf({ fd }: Segment): string {
  const head = Buffer.alloc(HEAD_BYTES);
  const size = readSync(fd, head, 0, HEAD_BYTES, 0);
  return parseRecord(head.subarray(0, size)).time.replaceAll(/\D/g, "");
}

/** @param first result of `firstOf` for this segment */
export function placeText({ inode }: Segment, offset: number, first: string): string {
  return `${inode}-${offset}-${first}`;
}

/** Finds the segment and offset of a position; undefined if its file is gone. */
export function placeIn(segments: readonly Segment[], text: string): { readonly segment: number; readonly offset: number } | undefined {
  const [, inode, digits, first] = PLACE.exec(text) ?? [];
  const segment = segments.findIndex((one) => String(one.inode) === inode && firstOf(one) === first);
  const offset = Number(digits);
  return segment !== -1 && offset <= fstatSync(segments[segment]!.fd).size ? { segment, offset } : undefined;
}
