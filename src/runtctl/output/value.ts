/** Formats values for programs. */
import { stringify } from "yaml";

export type Format = "json" | "yaml";

/** Returns the function that formats a value. */
export function formatOf(format: Format): (value: unknown) => string {
  return format === "json" ? (value) => JSON.stringify(value, null, 2) : (value) => stringify(value).trimEnd();
}
