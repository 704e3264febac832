/** Times of systemd, such as "5min 20s". Source: systemd.time(7), "Parsing Time Spans". */

const UNITS: Readonly<Record<string, number>> = {
  ...{ us: 0.001, usec: 0.001, ms: 1, msec: 1, "": 1000, s: 1000, sec: 1000, second: 1000, seconds: 1000 },
  ...{ m: 60_000, min: 60_000, minute: 60_000, minutes: 60_000, h: 3_600_000, hr: 3_600_000, hour: 3_600_000, hours: 3_600_000 },
  ...{ d: 86_400_000, day: 86_400_000, days: 86_400_000 },
};

const PART = /\s*(\d{1,12}(?:\.\d{1,6})?)\s*([a-z]*)/y;

/** In whole milliseconds. undefined: it is none. */
export function spanMs(text: string): number | undefined {
  let sum = 0;
  let at = 0;
  while (at < text.length) {
    PART.lastIndex = at;
    const [all, count, unit] = PART.exec(text) ?? [];
    if (all === undefined || !Object.hasOwn(UNITS, unit!)) return undefined;
    sum += Number(count) * UNITS[unit!]!;
    at += all.length;
  }
  return text === "" ? undefined : Math.round(sum);
}
