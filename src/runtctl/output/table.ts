/** Formats rows in columns, each as wide as its widest cell. */
const GAP = 3;

/**
 * The result has no newline at its end, and the last column is not padded. `paint` gets a padded cell and its column; it is not called for the
 * header.
 */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  paint: (cell: string, column: number) => string = (cell) => cell,
): string {
  const all = [header, ...rows];
  const widths = header.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const padded = (row: readonly string[]) =>
    row.map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column]! + GAP)));
  return [padded(header).join(""), ...rows.map((row) => padded(row).map(paint).join(""))].join("\n");
}

/** Formats a duration, such as "5s", "12m", "3h", "2d". */
export function age(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

/** As many characters of a digest as tables show. */
export function shortDigest(digest: string): string {
  return digest.slice(0, 19);
}

/** Formats "Name:   value", with all values in one column. `name` "": the value continues the line before. */
export function field(name: string, value: string): string {
  return `${(name === "" ? "" : `${name}:`).padEnd(16)}${value}`;
}
