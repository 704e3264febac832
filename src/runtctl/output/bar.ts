/** Characters that fill a cell of a bar to 0 to 7 eighths. */
const EIGHTHS = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** @param share from 0 to 1; other values are clamped, and NaN counts as 0 */
export function bar(share: number, cells: number): string {
  const eighths = Math.round(Math.min(1, Math.max(0, share || 0)) * cells * 8);
  return ("█".repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]!).padEnd(cells);
}

/** Formats a number of bytes, such as "1.5Gi", "512Mi", "17Ki", "3": at most three digits before the unit. */
export function bytes(count: number): string {
  let value = count;
  for (const unit of ["", "Ki", "Mi", "Gi"]) {
    if (value < 1000) return `${value < 10 && unit !== "" ? value.toFixed(1) : Math.round(value)}${unit}`;
    value /= 1024;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)}Ti`;
}
