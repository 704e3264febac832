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
