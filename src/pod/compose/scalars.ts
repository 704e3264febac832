/**
 * Values that a variable may give. They are then texts, and mean the same as the value without quotes. Source: compose-go, loader/interpolate.go.
 */
import { z } from "zod";

/** A boolean or its text, also in the words of YAML 1.1. */
export const flag = z.union([
  z.boolean(),
  z
    .string()
    .regex(/^(?:true|false|yes|no|y|n|on|off)$/i, "write true or false")
    .transform((text) => /^(?:true|y|yes|on)$/i.test(text)),
]);

/** A whole number, also as text. */
export const count = (least: number, most = Number.MAX_SAFE_INTEGER) =>
  z
    .union([
      z.int(),
      z
        .string()
        .regex(/^-?\d{1,16}$/, "is no whole number")
        .transform(Number),
    ])
    .pipe(z.int().min(least).max(most));

/** Of a time, in milliseconds. Source: xhit/go-str2duration, unitMap. */
const UNITS: Readonly<Record<string, number>> = {
  ...{ ns: 1e-6, us: 1e-3, "\u00b5s": 1e-3, "\u03bcs": 1e-3, ms: 1 },
  ...{ s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 },
};
const PART = "(?:\\d+(?:\\.\\d*)?|\\.\\d+)(?:ns|us|\u00b5s|\u03bcs|ms|s|m|h|d|w)";
const OF_ENGINE = /^(?:\d+(?:\.\d+)?(?:us|ms|s|m|h))+$/;

/** A time as Go writes it, also in days and weeks. The result has the form that the engine reads. */
export const durationText = z
  .string()
  .regex(new RegExp(`^\\+?(?:0|(?:${PART})+)$`), 'write a duration like "1m30s"')
  .transform((text) => {
    if (OF_ENGINE.test(text)) return text;
    const parts = [...text.matchAll(/([\d.]+)([^\d.]+)/g)];
    return `${parts.reduce((sum, [, number, unit]) => sum + Number(number) * UNITS[unit!]!, 0)}ms`;
  });
