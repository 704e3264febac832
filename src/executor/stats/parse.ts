/** The forms that cgroup files have. */
import type { Pressure, PressureLine } from "./types.ts";

/** One number; undefined for no file, "max" and whatever is no number. */
export function single(text: string | undefined): number | undefined {
  const trimmed = text?.trim() ?? "";
  return /^\d+$/.test(trimmed) ? Number(trimmed) : undefined;
}

/** Lines `name number`. */
export function keyed(text: string | undefined): ReadonlyMap<string, number> {
  return new Map(
    (text ?? "").split("\n").flatMap((line): [string, number][] => {
      const found = /^(\S+) (\d+)$/.exec(line);
      return found ? [[found[1]!, Number(found[2])]] : [];
    }),
  );
}

/** Sum of the lines `MAJOR:MINOR OPERATION number`, v1. */
export function blkio(text: string | undefined, operation: string): number | undefined {
  if (text === undefined) return undefined;
  let sum = 0;
  for (const line of text.split("\n")) {
    const [, name, value] = line.split(" ");
    if (name === operation) sum += Number(value);
  }
  return sum;
}

/** Sum over the devices of `key=number`, v2. */
export function ioStat(text: string | undefined, key: string): number | undefined {
  if (text === undefined) return undefined;
  return [...text.matchAll(new RegExp(`\\b${key}=(\\d+)`, "g"))].reduce((sum, found) => sum + Number(found[1]), 0);
}

export function pressure(text: string | undefined): Pressure | undefined {
  const some = pressureLine(text, "some");
  const full = pressureLine(text, "full");
  return some && { some, ...(full ? { full } : {}) };
}

function pressureLine(text: string | undefined, kind: string): PressureLine | undefined {
  const found = new RegExp(`^${kind} avg10=([\\d.]+) avg60=([\\d.]+) avg300=([\\d.]+) total=(\\d+)$`, "m").exec(text ?? "");
  if (!found) return undefined;
  return { avg10: Number(found[1]), avg60: Number(found[2]), avg300: Number(found[3]), totalUs: Number(found[4]) };
}

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

/** Without the fields that are undefined. */
export function present<T extends object>(fields: T): Defined<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>;
}

/** "cpu.usageUs" for every number there is. */
export function measured(stats: object, prefix = ""): string[] {
  return Object.entries(stats).flatMap(([name, value]) =>
    typeof value === "object" && value !== null ? measured(value, `${prefix}${name}.`) : typeof value === "number" ? [prefix + name] : [],
  );
}
