/** Values of the command line. Each names its option when it does not fit. */
import { durationSchema, sizeSchema } from "../engine/index.ts";

/** Milliseconds. @throws Error, when it is none */
export function durationOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const { success, data, error } = durationSchema.safeParse(value);
  if (!success) throw new Error(`${name}: ${value}: ${error.issues[0]?.message}`);
  return data;
}

/** Bytes. @throws Error, when it is none */
export function sizeOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const { success, data, error } = sizeSchema.safeParse(value);
  if (!success) throw new Error(`${name}: ${value}: ${error.issues[0]?.message}`);
  return data;
}

/** From 1. @throws Error, when it is none */
export function countOf(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new Error(`${name}: ${value} is no count`);
  return Number(value);
}

/** @throws Error, when it is none of them */
export function oneOf<T extends string>(name: string, value: string | undefined, words: readonly T[]): T | undefined {
  const word = words.find((one) => one === value);
  if (value !== undefined && word === undefined) throw new Error(`${name}: ${value} is none of ${words.join(", ")}`);
  return word;
}
