/**
 * zod schemas -> build/gen/shape.js: every field of config.json and its type, as small as it can be written. `runt validate` walks a
 * configuration along it, because the generated validator stops at the first violation and cannot suggest similar names.
 * Usage: tsx tools/gen-shape.ts [output directory]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { spec } from "../src/runtime/spec/schema/index.ts";

type Shape = string | { readonly f: Record<string, Shape>; readonly r: readonly string[] } | { readonly l: Shape } | { readonly m: Shape };

/** @throws Error for a kind of schema that tools/gen-schema.ts would refuse as well */
export function shapeOf(schema: z.ZodType): Shape {
  const def = schema._zod.def as z.core.$ZodTypeDef & { [key: string]: unknown };
  const int = z.globalRegistry.get(schema)?.["int"];
  if (int !== undefined) return String(int);
  switch (def.type) {
    case "optional":
    case "nullable":
      return shapeOf(def["innerType"] as z.ZodType);
    case "object": {
      const fields = Object.entries(def["shape"] as Record<string, z.ZodType>);
      return {
        f: Object.fromEntries(fields.map(([name, field]) => [name, shapeOf(field)])),
        r: fields.filter(([, field]) => field._zod.def.type !== "optional").map(([name]) => name),
      };
    }
    case "array":
      return { l: shapeOf(def["element"] as z.ZodType) };
    case "record":
      return { m: shapeOf(def["valueType"] as z.ZodType) };
    case "string":
    case "boolean":
    case "unknown":
      return def.type;
    default:
      throw new Error(`zod type "${def.type}" has no shape`);
  }
}

const DECLARATION = `/** Generated from src/runtime/spec/schema by tools/gen-shape.ts. */
export type Shape =
  /** "string", "boolean", "unknown", or the name of an integer type. */
  | string
  /** An object: its fields, and which of them are required (the others may be null too). */
  | { readonly f: Readonly<Record<string, Shape>>; readonly r: readonly string[] }
  /** A list. */
  | { readonly l: Shape }
  /** An object with names of the user's own. */
  | { readonly m: Shape };
declare const shape: Shape;
export default shape;
`;

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) {
  const output = process.argv[2] ?? resolve(dirname(self), "../build/gen");
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, "shape.d.ts"), DECLARATION);
  writeFileSync(join(output, "shape.js"), `export default ${JSON.stringify(shapeOf(spec))};\n`);
}
