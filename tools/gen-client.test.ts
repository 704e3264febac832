import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { SUBJECTS } from "../src/client/subjects.ts";
import { ROUTES } from "../src/runtd/routes/index.ts";
import { clientFiles, typeOf } from "./gen-client.ts";

const read = (path: string) => readFileSync(join(fileURLToPath(new URL("../", import.meta.url)), path), "utf8");

test.each(clientFiles())("%s is what the routes of the daemon have (tools/gen-client.ts)", (path, text) => {
  expect(read(path)).toBe(text);
});

test("every route of the daemon has one method in the client, and every method a route", () => {
  const methods = Object.values(SUBJECTS).flatMap((subject) => Object.values(subject));
  expect(methods.sort()).toEqual(ROUTES.map(({ operation }) => operation).sort());
});

test("types of schemas", () => {
  expect(typeOf({ type: ["string", "null"] })).toBe("string | null");
  expect(typeOf({ type: "array", items: { anyOf: [{ const: 1 }, { type: "null" }] } })).toBe("readonly (1 | null)[]");
  expect(typeOf({ type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } })).toBe("readonly [string, ...(string)[]]");
  expect(typeOf({ type: "object", additionalProperties: { type: "integer" } })).toBe("Readonly<Record<string, number>>");
  expect(typeOf({})).toBe("unknown");
  expect(() => typeOf({ type: "text" })).toThrow("a schema of type text is not known");
});

test("what a type cannot say is refused instead of left out", () => {
  const field = { type: "string" };
  for (const keyword of ["patternProperties", "not", "if", "contains", "dependentRequired", "unevaluatedProperties", "nullable"])
    expect(() => typeOf({ type: "object", [keyword]: {} })).toThrow(`the keyword ${keyword} of a schema is not known`);
  expect(() => typeOf({ type: "array", items: { type: "object", properties: { a: { ...field, not: {} } as object } } })).toThrow(
    "keyword not",
  );
  for (const additionalProperties of [true, field])
    expect(() => typeOf({ type: "object", properties: { a: field }, additionalProperties })).toThrow("fields of its own and others");
  const map = { type: "object", additionalProperties: field };
  expect(typeOf({ ...map, propertyNames: { type: "string", maxLength: 3 } as object })).toBe("Readonly<Record<string, string>>");
  expect(() => typeOf({ ...map, propertyNames: { enum: ["a", "b"] } })).toThrow("a map with a list of names");
});
