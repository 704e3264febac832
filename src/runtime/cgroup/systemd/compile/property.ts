/** A property of a unit, and the one-line form in which a plan shows it. */
import { parseGvariant } from "../gvariant/parse.ts";
import { printGvariant } from "../gvariant/print.ts";
import type { Variant } from "../wire/types.ts";

export interface Property {
  readonly name: string;
  readonly value: Variant;
}

export function property(name: string, signature: string, value: Variant["value"]): Property {
  return { name, value: { signature, value } };
}

/** "MemoryMax=uint64 67108864": the value as GVariant text. */
export function printProperty({ name, value }: Property): string {
  return `${name}=${printGvariant(value)}`;
}

/** The inverse of printProperty. */
export function parseProperty(text: string): Property {
  const equals = text.indexOf("=");
  return { name: text.slice(0, equals), value: parseGvariant(text.slice(equals + 1)) };
}

/** Of several properties with one name the last counts; it keeps the place of the first. */
export function lastOfEach(properties: readonly Property[]): Property[] {
  return [...new Map(properties.map((entry) => [entry.name, entry])).values()];
}

/** The systemd that will be told: 252. Called only for what not every systemd knows, because the manager may have to be asked. */
export type Version = () => number;
