/** Parsers for option values. Their errors name the option. */
import { durationSchema, sizeSchema } from "../engine/index.ts";

/** A duration in milliseconds. @throws Error: the text is no duration */
export function durationOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const { success, data, error } = durationSchema.safeParse(value);
  if (!success) throw new Error(`${name}: ${value}: ${error.issues[0]?.message}`);
  return data;
}

/** A size in bytes. @throws Error: the text is no size */
export function sizeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const { success, data, error } = sizeSchema.safeParse(value);
  if (!success) throw new Error(`${name}: ${value}: ${error.issues[0]?.message}`);
  return data;
}

/** An integer from 1. @throws Error: the text is no such number */
export function countOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new Error(`${name}: ${value} is no count`);
  return Number(value);
}

/** One of the given words. @throws Error: the text is none of them */
export function oneOf<T extends string>(name: string, value: string | undefined, words: readonly T[]): T | undefined {
  const word = words.find((one) => one === value);
  if (value !== undefined && word === undefined) throw new Error(`${name}: ${value} is none of ${words.join(", ")}`);
  return word;
}
