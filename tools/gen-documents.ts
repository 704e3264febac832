/**
 * The JSON Schemas of what runt prints and keeps (`runt schema NAME`), and the validator of a file of host facts, which it also reads.
 * Each has one source: a zod schema below src/runtime/spec/schema, the plan's operations src/shared/protocol/operations.
 *
 * Writes schema-NAME.json, validate-host-facts.js and validate-host-facts.d.ts. Usage: tsx tools/gen-documents.ts [output directory]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { DOCUMENTS } from "../src/runtime/spec/schema/documents/index.ts";
import { planExtras } from "../src/runtime/spec/schema/documents/plan.ts";
import { hostFacts } from "../src/runtime/spec/schema/host-facts.ts";
import { type FieldType, MESSAGES, OPS, type OpDefinition, PLAN_VERSION } from "../src/shared/protocol/index.ts";
import { DECLARATION, exactJson, type Json, publish, translate } from "./gen-schema.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** 64-bit numbers are decimal strings in the JSON of a plan, so that no reader rounds them (src/runtime/plan/plan.ts). */
const FIELD: Readonly<Record<FieldType, Json>> = {
  u32: { type: "integer", minimum: 0, maximum: 0xffff_ffff },
  slot: { type: "integer", minimum: 0, maximum: 0xffff_ffff },
  bool: { type: "boolean" },
  u64: { type: "string", pattern: "^\\d+$" },
  i64: { type: "string", pattern: "^-?\\d+$" },
  str: { type: "string" },
  strs: { type: "array", items: { type: "string" } },
  u32s: { type: "array", items: { type: "integer", minimum: 0, maximum: 0xffff_ffff } },
};

function operation([name, { actors, doc, fields }]: [string, OpDefinition]): Json {
  const names = Object.keys(fields);
  return {
    type: "object",
    description: doc,
    properties: {
      op: { const: name },
      actor: { enum: actors },
      phase: { type: "string" },
      from: { type: "string", description: "JSON pointer in config.json; empty: implied." },
      args: {
        type: "object",
        properties: Object.fromEntries(Object.entries(fields).map(([field, type]) => [field, FIELD[type]])),
        required: names,
        additionalProperties: false,
      },
    },
    required: ["op", "actor", "phase", "from", "args"],
    additionalProperties: false,
  };
}

function planSchema(): Json {
  const extras = publish(z.toJSONSchema(planExtras, { io: "input", unrepresentable: "any" }) as Json);
  return {
    description: `A plan. Messages of sync.send and sync.wait: ${Object.entries(MESSAGES)
      .map(([name, number]) => `${number} ${name}`)
      .join(", ")}.`,
    type: "object",
    properties: {
      version: { const: PLAN_VERSION },
      id: { type: "string" },
      slots: FIELD.u32,
      ops: { type: "array", items: { oneOf: (Object.entries(OPS) as [string, OpDefinition][]).map(operation) } },
      ...(extras["properties"] as Json),
    },
    required: ["version", "id", "slots", "ops", ...(extras["required"] as string[])],
  };
}

/** Write all of it into a directory. */
export function generateDocuments(output: string): void {
  mkdirSync(output, { recursive: true });
  const { validator, published } = translate(hostFacts, "host facts", output);
  writeFileSync(join(output, "validate-host-facts.js"), validator);
  writeFileSync(join(output, "validate-host-facts.d.ts"), DECLARATION);
  const others = Object.entries(DOCUMENTS).map(
    ([name, { title, schema }]) => [name, title, publish(z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json)] as const,
  );
  for (const [name, title, schema] of [
    ["check", "Host facts of runt check", published],
    ["plan", "Plan of runt plan", planSchema()],
    ...others,
  ] as const) {
    const { $schema: _dialect, ...rest } = schema as Json;
    const text = exactJson({ $schema: DIALECT, title, ...rest });
    // In the schema of the plan every operation would have one. That is too much to read, and the schema is part of the executable.
    writeFileSync(join(output, `schema-${name}.json`), name === "plan" ? `${JSON.stringify(JSON.parse(text))}\n` : text);
  }
}

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) generateDocuments(process.argv[2] ?? resolve(dirname(self), "../build/gen"));
