/** The features document of the runtime under test. */
import * as assert from "./assert.ts";
import type { Context } from "./context.ts";

export type Json = null | boolean | number | string | Json[] | { [name: string]: Json };
export type Document = { [name: string]: Json };

/** undefined: this runtime has none, which the specification allows; runt must have one. */
export async function features(c: Context): Promise<Document | undefined> {
  const result = await c.call(["features"]);
  if (result.status !== 0 && !c.isRunt) return undefined;
  assert.equal(result.status, 0, result.stderr);
  return JSON.parse(result.stdout);
}

/** The document, or the test is skipped. */
export async function requireFeatures(c: Context): Promise<Document> {
  return (await features(c)) ?? c.skip("this runtime has no features document");
}

/** The value at this place ("linux", "seccomp", "actions"); undefined: unknown to the runtime. */
export function valueAt(document: Document, ...names: readonly string[]): Json | undefined {
  return names.reduce<Json | undefined>(
    (value, name) => (value !== null && typeof value === "object" && !Array.isArray(value) ? value[name] : undefined),
    document,
  );
}

/** A list of names; the test is skipped when the runtime does not say. */
export function namesAt(c: Context, document: Document, ...names: readonly string[]): string[] {
  const value = valueAt(document, ...names) ?? c.skip(`the features do not tell ${names.join(".")}`);
  assert.ok(
    Array.isArray(value) && value.every((name) => typeof name === "string" && name !== ""),
    `${names.join(".")} is no list of names`,
  );
  return value as string[];
}

/** A flag; the test is skipped when the runtime does not say. */
export function flagAt(c: Context, document: Document, ...names: readonly string[]): boolean {
  const value = valueAt(document, ...names) ?? c.skip(`the features do not tell ${names.join(".")}`);
  assert.equal(typeof value, "boolean", names.join("."));
  return value as boolean;
}

/** Every property there is, nested ones with the names above them; those of annotations are not the specification's. */
export function propertyNames(document: Document, above = ""): string[] {
  return Object.entries(document).flatMap(([name, value]) => {
    const path = above + name;
    const isObject = value !== null && typeof value === "object" && !Array.isArray(value) && path !== "annotations";
    return [path, ...(isObject ? propertyNames(value, `${path}.`) : [])];
  });
}
