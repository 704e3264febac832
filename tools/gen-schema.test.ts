import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { optional, uint32, uint64 } from "../src/runtime/spec/schema/common.ts";
import { spec } from "../src/runtime/spec/schema/index.ts";
import { assertStructural, generate } from "./gen-schema.ts";

describe("assertStructural", () => {
  it("accepts the configuration and its building blocks", () => {
    expect(() => assertStructural(spec, "config")).not.toThrow();
    expect(() => assertStructural(z.object({ a: optional(uint64), b: z.array(uint32) }), "x")).not.toThrow();
  });

  it.each<[string, z.ZodType]>([
    ["a refinement", z.string().refine((text) => text !== "")],
    ["a check", z.string().min(1)],
    ["a transform", z.string().transform(Number)],
    ["a preprocess", z.preprocess(String, z.string())],
    ["a default", z.string().default("x")],
    ["a custom type", z.custom<string>()],
    ["a number of no integer type", z.number()],
    ["an integer of zod, which ends at 2^53", z.int()],
    ["a bare bigint", z.bigint()],
    ["a union", z.union([z.string(), z.boolean()])],
    ["an object that refuses unknown fields", z.strictObject({})],
    ["an unknown integer type", z.number().meta({ int: "uint8" })],
  ])("refuses %s, at any depth", (_name, schema) => {
    expect(() => assertStructural(schema, "x")).toThrow(/^x: /);
    expect(() => assertStructural(z.object({ list: optional(z.array(z.record(z.string(), schema))) }), "x")).toThrow(/^x\.list: /);
  });
});

describe("generate", () => {
  it("writes a validator without imports and a schema with exact ranges", () => {
    const directory = mkdtempSync(join(tmpdir(), "runt-schema-"));
    try {
      generate(directory);
      const validator = readFileSync(join(directory, "validate.js"), "utf8");
      expect(validator).not.toMatch(/\bimport\b|\brequire\b/);
      expect(validator.length).toBeLessThan(60_000);
      const schema = readFileSync(join(directory, "schema.json"), "utf8");
      expect(schema).toContain('"maximum": 18446744073709551615');
      expect(schema).toContain('"minimum": -9223372036854775808');
      expect(JSON.parse(schema)).toMatchObject({ type: "object", required: ["ociVersion"] });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
