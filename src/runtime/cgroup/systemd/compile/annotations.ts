/** Annotations org.systemd.property.NAME: properties that the caller gives the unit itself. */
import { RuntError } from "../../../errors/index.ts";
import { parseGvariant } from "../gvariant/parse.ts";
import { isInteger, type Variant } from "../wire/types.ts";
import type { Property } from "./property.ts";

const PREFIX = "org.systemd.property.";
const MICROSECONDS = 1_000_000n;
const HIGHEST = (1n << 64n) - 1n;

/** Sorted by name. @throws RuntError config-invalid for a name or a value that systemd could not take */
export function annotationProperties(annotations: Readonly<Record<string, string>>): Property[] {
  return Object.keys(annotations)
    .filter((key) => key.startsWith(PREFIX))
    .sort()
    .map((key) => parseAnnotation(key, annotations[key]!));
}

function parseAnnotation(key: string, text: string): Property {
  const pointer = `/annotations/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
  const name = key.slice(PREFIX.length);
  if (!/^[A-Za-z]{3,}$/.test(name)) {
    throw new RuntError("config-invalid", `annotation ${key}: a property name is three or more ASCII letters`, { pointer });
  }
  try {
    const value = parseGvariant(text);
    // systemd.unit(5) has seconds where the bus has microseconds.
    return /[a-z]Sec$/.test(name) ? { name: name.replace(/Sec$/, "USec"), value: toMicroseconds(value) } : { name, value };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new RuntError("config-invalid", `annotation ${key}: ${JSON.stringify(text)} is not a GVariant value: ${error.message}`, {
      pointer,
      cause: error,
    });
  }
}

function toMicroseconds({ signature, value }: Variant): Variant {
  if (!isInteger(signature) && signature !== "d") throw new RangeError("seconds are a number");
  const scaled = signature === "d" ? fractional(value as number) : BigInt(value as number | bigint) * MICROSECONDS;
  if (scaled < 0n || scaled > HIGHEST) throw new RangeError("seconds out of range");
  return { signature: "t", value: scaled };
}

function fractional(seconds: number): bigint {
  const scaled = Math.round(seconds * Number(MICROSECONDS));
  if (!Number.isFinite(scaled)) throw new RangeError("seconds out of range");
  return BigInt(scaled);
}
