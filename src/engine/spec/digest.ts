/** Two specs with the same digest ask for the same thing: `apply` compares by it. */
import { createHash } from "node:crypto";
import type { TaskSpec } from "./schema/task.ts";

/** "sha256:..." over the normalised spec. The order of keys, comments and the way a size is written do not matter. */
export function specDigest(spec: TaskSpec): string {
  return `sha256:${createHash("sha256").update(canonicalJson(spec)).digest("hex")}`;
}

/** JSON with sorted keys and without what is undefined. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(",")}}`;
}
