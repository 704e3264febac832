/** A digest of a spec. `apply` compares digests to find out whether a task has changed. */
import { createHash } from "node:crypto";
import type { TaskSpec } from "./schema/task.ts";

/** "sha256:..." of the normalised spec. It does not depend on the order of keys, comments, or how a size is written. */
export function specDigest(spec: TaskSpec): string {
  return `sha256:${createHash("sha256").update(canonicalJson(spec)).digest("hex")}`;
}

/** JSON with sorted keys and without undefined values. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${canonicalJson(field)}`).join(",")}}`;
}
