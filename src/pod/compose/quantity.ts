/** Parses sizes of Compose files. */

const POWER: Readonly<Record<string, number>> = { "": 0, b: 0, k: 1, m: 2, g: 3 };

/** All units are powers of 1024. Source: Compose specification, "Specifying byte values". */
export function bytesOf(value: string | number): number {
  const [, count, unit = ""] = /^([\d.]+)(\w?)/.exec(String(value).toLowerCase())!;
  return Math.round(Number(count) * 1024 ** POWER[unit]!);
}
