/**
 * zod schemas -> build/gen/validate.js (a standalone validator), validate.d.ts and schema.json.
 *
 * Evaluating zod in QuickJS at every start costs more than a whole create; the generated validator costs a fraction of it.
 * Usage: tsx tools/gen-schema.ts [output directory]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { _, Ajv } from "ajv";
import { _Code } from "ajv/dist/compile/codegen/code.js";
import standalone from "ajv/dist/standalone/index.js";
import { buildSync } from "esbuild";
import { z } from "zod";
import type { IntegerType } from "../src/runtime/spec/schema/common.ts";
import { spec } from "../src/runtime/spec/schema/index.ts";

// A CommonJS module: Node wraps its default export once more than its types say.
const toCode = (standalone as unknown as { default: typeof standalone }).default;

export type Json = { [key: string]: unknown };

const RANGES: Record<IntegerType, readonly [bigint, bigint]> = {
  int64: [-(1n << 63n), (1n << 63n) - 1n],
  uint64: [0n, (1n << 64n) - 1n],
  int32: [-(1n << 31n), (1n << 31n) - 1n],
  uint32: [0n, (1n << 32n) - 1n],
  uint16: [0n, (1n << 16n) - 1n],
};

/** Kinds of zod schemas that a JSON schema expresses completely. */
const STRUCTURAL = new Set([
  "object",
  "array",
  "record",
  "string",
  "boolean",
  "number",
  "bigint",
  "union",
  "optional",
  "nullable",
  "unknown",
]);

/** Refuse what the validator would silently lose: refinements, transforms, defaults, pipes, formats, bare bigints. */
export function assertStructural(schema: z.ZodType, path: string): void {
  const def = schema._zod.def as z.core.$ZodTypeDef & { [key: string]: unknown };
  if (!STRUCTURAL.has(def.type)) throw new Error(`${path}: zod type "${def.type}" is not structural`);
  if ((def.checks ?? []).length > 0) throw new Error(`${path}: refinements and checks are not kept, move them to src/runtime/check`);
  const int = z.globalRegistry.get(schema)?.["int"];
  if (int !== undefined) {
    if (!(String(int) in RANGES)) throw new Error(`${path}: unknown integer type "${String(int)}"`);
    return;
  }
  if (def.type === "union" || def.type === "bigint" || def.type === "number") {
    throw new Error(`${path}: "${def.type}" without an integer type`);
  }
  if (def.type === "object") {
    if (def["catchall"] !== undefined) throw new Error(`${path}: unknown fields must pass`);
    for (const [key, value] of Object.entries(def["shape"] as Record<string, z.ZodType>)) assertStructural(value, `${path}.${key}`);
  }
  for (const part of ["element", "innerType", "valueType"]) {
    if (def[part] !== undefined) assertStructural(def[part] as z.ZodType, path);
  }
}

interface Style {
  readonly integer: (type: IntegerType, nullable: boolean) => Json;
  readonly nullable: (type: string) => Json;
}

/** Fold `anyOf [X, null]` into a nullable X, drop empty keywords, and write integers and null in the given style. */
function simplify(node: unknown, style: Style): unknown {
  if (Array.isArray(node)) return node.map((item) => simplify(item, style));
  if (typeof node !== "object" || node === null) return node;
  const schema = node as Json;
  if (typeof schema["int"] === "string") return style.integer(schema["int"] as IntegerType, false);
  const alternatives = schema["anyOf"] as Json[] | undefined;
  if (alternatives !== undefined) {
    const [inner, none] = alternatives;
    if (alternatives.length !== 2 || none?.["type"] !== "null" || inner === undefined) throw new Error("unexpected anyOf");
    if (typeof inner["int"] === "string") return style.integer(inner["int"] as IntegerType, true);
    if (typeof inner["type"] !== "string") throw new Error("a schema with an id cannot be optional: mark its parts instead");
    return { ...(simplify(inner, style) as Json), ...style.nullable(inner["type"]) };
  }
  const result: Json = {};
  if (Array.isArray(schema["type"])) Object.assign(result, style.nullable(String(schema["type"][0])));
  for (const [key, value] of Object.entries(schema)) {
    if (key === "propertyNames" || key === "id" || key in result) continue;
    result[key] = simplify(value, style);
  }
  return result;
}

// A number or bigint in range; -0 and 1e3 are integers too, as for JSON.parse.
const EXACT_INTEGER = `function (low, high, value) {
  return typeof value === "bigint"
    ? value >= low && value <= high
    : typeof value === "number" && Number.isInteger(value) && value >= low && value <= high;
}`;
const exactInteger = { ref: EXACT_INTEGER, key: EXACT_INTEGER, code: new _Code(EXACT_INTEGER) };

function makeAjv(): Ajv {
  // Draft 7 keywords suffice; the 2020 vocabulary would track evaluated properties in every function.
  const ajv = new Ajv({ strict: true, inlineRefs: false, messages: false, code: { source: true, esm: true, lines: true } });
  ajv.addKeyword({
    keyword: "int",
    errors: true,
    schemaType: "array",
    error: { message: "integer", params: ({ schema }) => _`{int: ${String((schema as unknown[])[0])}}` },
    code(cxt) {
      const [type, nullable] = cxt.schema as [IntegerType, boolean];
      const { data } = cxt;
      const [low, high] = RANGES[type];
      const isInteger = {
        uint16: _`typeof ${data} === "number" && (${data} & 65535) === ${data}`,
        uint32: _`typeof ${data} === "number" && ${data} >>> 0 === ${data}`,
        int32: _`typeof ${data} === "number" && (${data} | 0) === ${data}`,
        int64: _`${cxt.gen.scopeValue("func", exactInteger)}(${new _Code(`${low}n`)}, ${new _Code(`${high}n`)}, ${data})`,
        uint64: _`${cxt.gen.scopeValue("func", exactInteger)}(${new _Code(`${low}n`)}, ${new _Code(`${high}n`)}, ${data})`,
      }[type];
      cxt.pass(nullable ? _`${data} === null || ${isInteger}` : isInteger);
    },
  });
  return ajv;
}

/**
 * ajv writes every violation out in full; one function for all of them takes a quarter off the code.
 * The path inside the schema is never shown, and nothing asks for parents.
 */
function compress(code: string): string {
  const violation = /(\w+)\.errors = \[\{instancePath(?::(.*?))?,schemaPath:".*?",keyword:"\w+",params:(\{.*?\})\}\];\s*return false;/g;
  const short = code
    .replace(
      violation,
      (_all, validate: string, path: string | undefined, params: string) =>
        `return fail(${validate}, ${path ?? "instancePath"}, ${params});`,
    )
    .replaceAll(", parentData, parentDataProperty, rootData=data", "")
    .replace(/,parentData:\s*\w+,parentDataProperty:\s*[\w"]+,rootData/g, "")
    .split(/^(?=function validate\d+\()/m)
    .map(withoutCounts)
    .join("");
  if (/schemaPath|parentData|rootData|[eE]rrors (?!= )|\bvalid\d|_errs/.test(short))
    throw new Error("the code of this ajv is not what tools/gen-schema.ts expects");
  return `${short}\nfunction fail(f, instancePath, params) { f.errors = [{ instancePath, params }]; return false; }\n`;
}

/** ajv counts violations. Here the first one returns, so the comparisons of counts are always true and go. */
function withoutCounts(validator: string): string {
  const name = /^function (\w+)/.exec(validator)?.[1];
  return validator
    .replace(
      /vErrors = vErrors === null \? (\w+)\.errors : vErrors\.concat\(\1\.errors\);\s*errors = vErrors\.length;/g,
      `${name}.errors = $1.errors;\nreturn false;`,
    )
    .replace(/let vErrors = null;|let errors = 0;|const _errs\d+ = errors;|var valid\d+ = (?:_errs\d+ === errors|true);/g, "")
    .replace(/if\(!valid\d+\)\{\s*break;\s*\}|else \{\s*\}/g, "")
    .replace(/if\((?:valid\d+|errors === (?:0|_errs\d+))\)\{/g, "{")
    .replace(`${name}.errors = vErrors;`, "")
    .replace("return errors === 0;", "return true;");
}

/** JSON with bigints written as plain integers. */
export function exactJson(value: unknown): string {
  const marked = JSON.stringify(value, (_key, item: unknown) => (typeof item === "bigint" ? `\u0000${item}` : item), 2);
  return `${marked.replace(/"\\u0000(-?\d+)"/g, "$1")}\n`;
}

/** The code of a validator without imports, and what it takes to publish the schema beside it. */
export function translate(schema: z.ZodType, name: string, output: string): { readonly validator: string; readonly published: Json } {
  assertStructural(schema, name);
  const raw = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" }) as Json;
  const { $schema: _dialect, ...compact } = simplify(raw, {
    integer: (type, nullable) => ({ int: [type, nullable] }),
    nullable: (type) => ({ type, nullable: true }),
  }) as Json;
  const ajv = makeAjv();
  const code = compress(toCode(ajv, ajv.compile(compact)));
  // Bundled to drop the schemas that ajv keeps beside the functions; minified because its size is load time.
  const built = buildSync({
    stdin: { contents: code, resolveDir: output },
    bundle: true,
    write: false,
    minify: true,
    format: "esm",
    target: "es2022",
  });
  const validator = built.outputFiles[0]?.text ?? "";
  if (/\brequire\(|\bimport\b/.test(validator)) throw new Error("the validator must not import anything");
  return { validator, published: publish(raw) };
}

/** A JSON schema in the words of JSON Schema 2020-12: integers with their ranges, null where Go's encoders write it. */
export function publish(raw: Json): Json {
  return simplify(raw, {
    integer: (type, nullable) => ({
      type: nullable ? ["integer", "null"] : "integer",
      minimum: RANGES[type][0],
      maximum: RANGES[type][1],
    }),
    nullable: (type) => ({ type: [type, "null"] }),
  }) as Json;
}

/** Write the three files into a directory. */
export function generate(output: string): void {
  const { validator, published } = translate(spec, "config", output);
  const { $schema, ...rest } = published;
  mkdirSync(output, { recursive: true });
  writeFileSync(join(output, "validate.js"), validator);
  writeFileSync(join(output, "validate.d.ts"), DECLARATION);
  writeFileSync(join(output, "schema.json"), exactJson({ $schema, title: "OCI runtime configuration (Linux)", ...rest }));
}

export const DECLARATION = `/** Generated from src/runtime/spec/schema by tools/gen-schema.ts. */
export interface SchemaError {
  /** JSON pointer of the value. */
  readonly instancePath: string;
  /** What was expected: a type, a field, or an integer type. */
  readonly params: { readonly type?: string | readonly string[]; readonly missingProperty?: string; readonly int?: string };
}
export interface Validate {
  (value: unknown): boolean;
  /** The first violation, after a call that returned false. */
  errors?: readonly SchemaError[] | null;
}
declare const validate: Validate;
export default validate;
`;

const self = fileURLToPath(import.meta.url);
if (process.argv[1] === self) generate(process.argv[2] ?? resolve(dirname(self), "../build/gen"));
