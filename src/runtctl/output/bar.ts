import type { Progress } from "../../engine/index.ts";

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

const CELLS = 30;

/** Such as "3 of 7 layers, 12Mi of 90Mi". */
export function progressText({ bytes: have, total, layers }: Progress): string {
  const size = total === null ? `${bytes(have)} so far` : `${bytes(have)} of ${bytes(total)}`;
  return `${layers ? `${layers.done} of ${countOf(layers.total)}, ` : ""}${size}`;
}

/** A bar with its numbers, if the whole is known. */
export function progressBar(progress: Progress): string {
  const { bytes: have, total } = progress;
  return total === null ? progressText(progress) : `${bar(total === 0 ? 1 : have / total, CELLS)} ${progressText(progress)}`;
}

/** Such as " (7 layers, 90Mi)"; "": the source does not say it. */
export function sizeText(size: { readonly layers: number; readonly bytes: number } | undefined): string {
  return size === undefined ? "" : ` (${countOf(size.layers)}, ${bytes(size.bytes)})`;
}

function countOf(layers: number): string {
  return `${layers} ${layers === 1 ? "layer" : "layers"}`;
}
