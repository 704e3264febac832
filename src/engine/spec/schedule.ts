/** Parses the expression of a schedule in the format of Kubernetes: five fields, a word such as "@daily", or "@every 90m". */
import type { Problem } from "./finding.ts";
import type { TaskSpec } from "./schema/task.ts";

export type ScheduleSpec = NonNullable<TaskSpec["schedule"]>;

/** pattern: five fields without ranges, steps and names. every: milliseconds between one time and the next. */
export type Rhythm = { readonly pattern: string } | { readonly everyMs: number };

interface Field {
  readonly what: string;
  readonly least: number;
  readonly most: number;
  /** Names of its values, from `least` on. */
  readonly names?: readonly string[];
}

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

const FIELDS: readonly Field[] = [
  { what: "minute", least: 0, most: 59 },
  { what: "hour", least: 0, most: 23 },
  { what: "day of the month", least: 1, most: 31 },
  { what: "month", least: 1, most: 12, names: MONTHS },
  { what: "day of the week", least: 0, most: 6, names: DAYS },
];

const WORDS: Readonly<Record<string, string>> = {
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
  "@monthly": "0 0 1 * *",
  "@weekly": "0 0 * * 0",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@hourly": "0 * * * *",
};

/** Units of a duration of Go, in milliseconds. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
const EVERY = /^@every ((?:\d+(?:\.\d+)?(?:ms|s|m|h))+)$/;
const LONGEST_MS = 366 * 24 * 3_600_000;

class WrongSchedule extends Error {}

/** Why the text is no valid schedule; undefined: it is valid. */
export function scheduleError(text: string): string | undefined {
  try {
    rhythmOf(text);
    return undefined;
  } catch (error) {
    if (error instanceof WrongSchedule) return error.message;
    throw error;
  }
}

/** @throws WrongSchedule: the text is not valid; scheduleError returns the reason without throwing */
export function rhythmOf(written: string): Rhythm {
  const text = written.trim();
  if (/^(?:CRON_)?TZ=/.test(text)) throw new WrongSchedule("the time zone is a field of its own: timeZone");
  if (text.startsWith("@")) return wordOf(text);
  const fields = text.split(/\s+/);
  if (fields.length !== FIELDS.length)
    throw new WrongSchedule(`write five fields (minute, hour, day of the month, month, day of the week), not ${fields.length}`);
  return { pattern: FIELDS.map((field, at) => valuesOf(fields[at]!, field)).join(" ") };
}

function wordOf(text: string): Rhythm {
  if (Object.hasOwn(WORDS, text)) return { pattern: WORDS[text]! };
  const [, duration] = EVERY.exec(text) ?? [];
  if (duration === undefined)
    throw new WrongSchedule(`${text} is none of ${Object.keys(WORDS).join(", ")} and "@every" with a duration such as 90m`);
  const parts = [...duration.matchAll(/([\d.]+)(ms|s|m|h)/g)];
  // Like robfig/cron: rounded down to whole seconds, and at least one second.
  const ms = Math.floor(parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!, 0) / 1000) * 1000;
  if (ms > LONGEST_MS) throw new WrongSchedule("is longer than a year");
  return { everyMs: Math.max(1000, ms) };
}

/** "*", or the values of the field. "*" with a step does not count as "*": it restricts the day like other values. Source: robfig/cron, getRange. */
function valuesOf(text: string, field: Field): string {
  const all = text.split(",").map((part) => partOf(part, field));
  if (all.includes("all")) return "*";
  const values = new Set(all.flatMap((one) => (one === "all" ? [] : one)));
  return [...values].sort((a, b) => a - b).join(",");
}

function partOf(part: string, field: Field): readonly number[] | "all" {
  const wrong = (why: string) => new WrongSchedule(`${JSON.stringify(part)} is no ${field.what}: ${why}`);
  const [range = "", step, ...further] = part.split("/");
  const [from = "", to, ...more] = range.split("-");
  if (further.length > 0 || more.length > 0) throw wrong('write one value, a range "1-5", or a step "*/15"');
  const number = (text: string) => {
    const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
    if (named >= 0) return field.least + named;
    if (!/^\d{1,4}$/.test(text))
      throw wrong(field.names === undefined ? "it is a number" : "it is a number or the first three letters of its name");
    return Number(text);
  };
  const width = step === undefined ? 1 : number(step);
  if (width === 0) throw wrong("a step of 0 leads nowhere");
  const isAny = from === "*" || from === "?";
  if (isAny && to !== undefined) throw wrong('"*" is no end of a range');
  if (isAny && width === 1) return "all";
  const least = isAny ? field.least : number(from);
  // "5/15" means every fifteenth value from 5 on.
  const most = isAny || (to === undefined && step !== undefined) ? field.most : number(to ?? from);
  if (least < field.least || most > field.most) throw wrong(`it is from ${field.least} to ${field.most}`);
  if (least > most) throw wrong("the range ends before it begins");
  return Array.from({ length: Math.floor((most - least) / width) + 1 }, (_, at) => least + at * width);
}

/** Returns true if this program has no list of time zones, as some clients do not. The daemon then refuses an unknown time zone. */
export function isTimeZone(zone: string): boolean {
  const known = (globalThis as { readonly Intl?: { readonly DateTimeFormat?: unknown } }).Intl?.DateTimeFormat;
  if (typeof known !== "function") return true;
  try {
    Reflect.construct(known, ["en", { timeZone: zone }]);
    return true;
  } catch {
    return false;
  }
}

const MOST_NAME = 63;
const MINUTE_MS = 60_000;
/** In the year 2160, the last time whose minutes have eight digits. In milliseconds since the epoch. */
const LAST_MS = 99_999_999 * MINUTE_MS;

/**
 * The time of a run, as its name has it: in minutes since the epoch, as in Kubernetes, or in seconds if runs are less than a minute apart, so that
 * each has a name of its own. @throws WrongSchedule
 */
export function runTime(cron: string, atMs: number): string {
  const rhythm = rhythmOf(cron);
  return String(Math.floor(atMs / ("everyMs" in rhythm && rhythm.everyMs < MINUTE_MS ? 1000 : MINUTE_MS)));
}

/** Characters of runTime. */
export function runTimeLength(cron: string): number {
  // A schedule that is not valid is refused for that.
  return scheduleError(cron) === undefined ? runTime(cron, LAST_MS).length : 0;
}

export function checkSchedule({ schedule, name, start, sharedProxy }: TaskSpec): Problem[] {
  if (schedule === undefined) return [];
  const wrong = (code: Problem["code"], message: string, ...path: string[]): Problem => ({ code, message, path });
  const problem = scheduleError(schedule.cron);
  const length = name.length + runTimeLength(schedule.cron) + String(schedule.copies - 1).length + 2;
  return [
    ...(problem === undefined ? [] : [wrong("shape", problem, "schedule", "cron")]),
    ...(schedule.timeZone === undefined || isTimeZone(schedule.timeZone)
      ? []
      : [wrong("shape", `there is no time zone ${schedule.timeZone}`, "schedule", "timeZone")]),
    ...(start === "once" ? [] : [wrong("combination", "a task with a schedule is started by it: once", "start")]),
    ...(sharedProxy === undefined ? [] : [wrong("combination", "a task with a schedule has no shared proxy", "sharedProxy")]),
    ...(length > MOST_NAME
      ? [wrong("limit", `the names of its runs would be longer than ${MOST_NAME} characters: NAME-TIME-INDEX`, "name")]
      : []),
  ];
}
