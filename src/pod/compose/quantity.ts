/** Parses sizes of Compose files. */

/** Such as "64m", "1.5 GB" or "1KiB". Source: docker/go-units, RAMInBytes. */
export const SIZE = /^(\d+(?:\.\d*)?|\.\d+) ?([kmgtp]?)i?b?$/i;

const UNITS = ["", "k", "m", "g", "t", "p"];

/** All units are powers of 1024. Source: Compose specification, "Specifying byte values". */
export function bytesOf(value: string | number): number {
  // No limit, which only a number can say.
  if (value === -1) return 0;
  const [, count, unit = ""] = SIZE.exec(String(value))!;
  return Math.round(Number(count) * 1024 ** UNITS.indexOf(unit.toLowerCase()));
}
