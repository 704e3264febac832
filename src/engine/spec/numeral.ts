/** Values without quotes as Go's YAML library reads them, because Compose files are written for it. Source: go-yaml v3, resolve.go. */
import type { ScalarTag } from "yaml";

/** A number that Go prints differently from JavaScript: for example one of more than 53 bits, or with an exponent. */
export class Numeral {
  constructor(
    readonly text: string,
    readonly value: number,
  ) {}

  toString(): string {
    return this.text;
  }
}

/** A date or time without quotes. */
export class Timestamp {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }
}

const MOST_SIGNED = 2n ** 63n;
const MOST_UNSIGNED = 2n ** 64n;

/** Formats a number like fmt.Sprint: with an exponent of at least two digits from a million on, and below a ten thousandth. */
function textOf(value: number): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
  const [digits = "", power = ""] = value.toExponential().split("e");
  const exponent = Number(power);
  if (exponent >= -4 && exponent < 6) return Object.is(value, -0) ? "-0" : String(value);
  return `${digits}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

function float(text: string): unknown {
  const value = Number(text.replaceAll("_", ""));
  // Go keeps a number that is too large as text.
  if (!Number.isFinite(value)) return text;
  return Object.is(value, -0) || textOf(value) !== String(value) ? new Numeral(textOf(value), value) : value;
}

/** "010" is octal, as in YAML 1.1. An integer of more than 64 bits becomes a float; with the prefix 0x, 0b or 0o it stays text. */
function whole(text: string): unknown {
  const [, sign = "", prefix = "", digits = ""] = /^([-+]?)(0[xXbBoO]?(?=.)|)(.+)$/.exec(text.replaceAll("_", ""))!;
  if (prefix === "0" && /[89]/.test(digits)) return float(text);
  const value = BigInt(`${prefix === "0" ? "0o" : prefix.toLowerCase()}${digits}`) * (sign === "-" ? -1n : 1n);
  if (value >= MOST_UNSIGNED || value < -MOST_SIGNED) return /^0[xbo]/i.test(prefix) ? text : float(text);
  return Number.isSafeInteger(Number(value)) ? Number(value) : new Numeral(String(value), Number(value));
}

const DATE =
  /^(\d{4}-)(\d{1,2})-(\d{1,2})(?:[Tt]\d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?(?:Z|[-+]\d{2}:\d{2})| \d{1,2}:\d{1,2}:\d{1,2}(?:\.\d+)?)?$/;

function timestamp(text: string): unknown {
  const [, year, month, day] = DATE.exec(text)!;
  const isDate = new Date(`${year}${month!.padStart(2, "0")}-${day!.padStart(2, "0")}T00:00:00Z`).getUTCDate() === Number(day);
  return isDate ? new Timestamp(text) : text;
}

const tag = (name: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({
  ...{ tag: `tag:yaml.org,2002:${name}`, default: true, test, resolve },
});

export const GO_TAGS: readonly ScalarTag[] = [
  tag("timestamp", DATE, timestamp),
  tag("int", /^[-+]?(?:0[xX][0-9a-fA-F_]*[0-9a-fA-F]_*|0[bB][01_]*[01]_*|0[oO][0-7_]*[0-7]_*|[0-9][0-9_]*)$/, whole),
  tag("float", /^[-+]?(?:\.[0-9]+|[0-9][0-9_]*(?:\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?$/, float),
  tag("float", /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/, (text) => {
    const value = /n$/i.test(text) ? Number.NaN : text.startsWith("-") ? -Infinity : Infinity;
    return new Numeral(textOf(value), value);
  }),
];
