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

/** A column of terms wider than this takes too much from the texts: longer terms get a line of their own. */
const WIDEST_TERM = 30;

export type Row = readonly [term: string, text: string];

/** Where the texts begin: behind the widest term that is not too wide. */
export function termWidth(rows: readonly Row[]): number {
  return Math.max(...rows.map(([term]) => term.length).filter((length) => length <= WIDEST_TERM), 0) + 2;
}

/** Terms, and behind them their texts, wrapped so that no line is longer than `total`. */
export function columns(rows: readonly Row[], total: number, width = termWidth(rows)): string[] {
  return rows.flatMap(([term, text]) => {
    const [first = "", ...rest] = wrap(text, total - width);
    const head = term.length + 2 > width ? [term, " ".repeat(width) + first] : [term.padEnd(width) + first];
    return [...head, ...rest.map((line) => " ".repeat(width) + line)];
  });
}

/** Lines of at most `width` characters, broken at blanks. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    if (line !== "" && line.length + 1 + word.length > width) {
      lines.push(line);
      line = "";
    }
    line += line === "" ? word : ` ${word}`;
  }
  return [...lines, line];
}
