import { printable } from "../errors/index.ts";
import * as host from "../host/index.ts";

export function print(text: string): void {
  host.write(1, text);
}

/** Of a column of a table. */
export const MINIMUM_WIDTH = 12;

/** Columns padded to the widest cell, at least `minimum` wide, three blanks apart (the form of runc's tables). */
export function table(rows: readonly (readonly string[])[], minimum = MINIMUM_WIDTH): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(minimum, ...rows.map((row) => (row[column] ?? "").length + 3)));
  return rows
    .map((row) => row.map(printable))
    .map((row) => `${row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0))).join("")}\n`)
    .join("");
}
