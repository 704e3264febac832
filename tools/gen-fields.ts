/**
 * Write docs/engine/compose-fields.md and docs/engine/pod-fields.md: every field of Compose files and Kubernetes documents, with the values that it takes, as the
 * schemas have them. So no field that runt reads or refuses can be missing.
 *
 * Usage: tsx tools/gen-fields.ts
 */
import { writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { OF_FILE, OF_SERVICE } from "../src/pod/compose/ignored.ts";
import { composeFile } from "../src/pod/compose/schema.ts";
import { SCHEMAS } from "../src/pod/manifest/file.ts";

export interface Field {
  /** Such as "services.*.ports[].target". */
  readonly path: string;
  /** What it may be, in words; "": it is refused. */
  readonly values: string;
  /** Why it is refused; "": it is not. */
  readonly refusal: string;
}

type Schema = z.core.$ZodType;

/** @param known places whose fields are not listed, with what is said of them instead */
export function fieldsOf(schema: Schema, known: ReadonlyMap<string, string> = new Map(), path = ""): Field[] {
  const parts = alternativesOf(schema);
  const refusal = refusalOf(parts);
  const said = known.get(path);
  const own: Field[] = path === "" ? [] : [{ path, refusal, values: refusal === "" ? (said ?? valuesOf(parts)) : "" }];
  if (refusal !== "" || said !== undefined) return own;
  return [...own, ...unique(parts.flatMap((part) => innerOf(part, known, path)))];
}

function innerOf(part: Schema, known: ReadonlyMap<string, string>, path: string): Field[] {
  if (part instanceof z.ZodObject)
    return Object.entries(part.shape as Record<string, Schema>).flatMap(([name, inner]) =>
      fieldsOf(inner, known, path === "" ? name : `${path}.${name}`),
    );
  // What is in a list or map has no row of its own, as far as it is no object.
  if (part instanceof z.ZodArray) return alternativesOf(part.element).flatMap((one) => innerOf(one, known, `${path}[]`));
  if (part instanceof z.ZodRecord) return alternativesOf(part.valueType).flatMap((one) => innerOf(one, known, `${path}.*`));
  return [];
}

/** Without what surrounds it: defaults, what may be absent, and changes of the value. */
function alternativesOf(schema: Schema): Schema[] {
  if (schema instanceof z.ZodUnion) return schema.options.flatMap((one) => alternativesOf(one));
  if (schema instanceof z.ZodPipe) return alternativesOf(schema.in instanceof z.ZodTransform ? schema.out : schema.in);
  const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault, z.ZodReadonly, z.ZodNonOptional] as const;
  const wrapper = wrappers.find((kind) => schema instanceof kind);
  return wrapper === undefined ? [schema] : alternativesOf((schema as z.ZodOptional).unwrap());
}

const REFUSED = "is not supported: ";

/** The message for any value; "": some values are taken. */
function refusalOf(parts: readonly Schema[]): string {
  const isRefused = parts.every((part) => part instanceof z.ZodNever || part instanceof z.ZodCustom);
  const result = isRefused ? z.safeParse(parts[0]!, { any: "value" }) : undefined;
  const message = result?.error?.issues[0]?.message ?? "";
  return message.startsWith(REFUSED) ? message.slice(REFUSED.length) : "";
}

function valuesOf(parts: readonly Schema[]): string {
  return [...new Set(parts.flatMap(wordsFor))].join(", ");
}

function wordsFor(part: Schema): string[] {
  if (part instanceof z.ZodEnum) return part.options.map((one) => code(String(one)));
  if (part instanceof z.ZodLiteral) return [...part.values].map((one) => code(String(one)));
  if (part instanceof z.ZodArray) return [`list of ${pluralOf(valuesOf(alternativesOf(part.element)))}`];
  if (part instanceof z.ZodRecord) return ["map"];
  if (part instanceof z.ZodObject) return ["fields"];
  if (part instanceof z.ZodBoolean) return ["`true`, `false`"];
  if (part instanceof z.ZodNumber) return ["number"];
  if (part instanceof z.ZodString) return ["text"];
  if (part instanceof z.ZodNull) return [];
  return ["any value"];
}

function pluralOf(values: string): string {
  return values
    .replace(/^fields$/, "objects")
    .replace(/\btext\b/g, "texts")
    .replace(/\bnumber\b/g, "numbers");
}

function code(value: string): string {
  return value === "" ? '`""`' : `\`${value}\``;
}

function unique(fields: readonly Field[]): Field[] {
  const known = new Set<string>();
  return fields.filter(({ path }) => known.size < known.add(path).size);
}

function rows(fields: readonly Field[], told: ReadonlyMap<string, string> = new Map()): string {
  const lines = unique(fields).map(({ path, values, refusal }) => {
    const effect = refusal === "" ? (told.get(path) ?? "") : `refused: ${refusal}`;
    return `| \`${path}\` | ${inCell(values)} | ${inCell(effect)} |`;
  });
  return `| field | values | why it is refused, or has no effect |\n| --- | --- | --- |\n${lines.join("\n")}\n`;
}

function inCell(text: string): string {
  return text.replaceAll("|", "\\|");
}

const HEAD = "Written by `tools/gen-fields.ts` from the schemas";
const FORMS =
  "`[]` is each entry of a list, `*` each name of a map. A field that is neither here nor begins with `x-` is refused as\nunknown.";

/** Parts of a Compose file with a table each, and the beginning of the paths of their fields. */
const PARTS = [
  ["Services", "services.*."],
  ["Networks", "networks.*."],
  ["Volumes", "volumes.*."],
  ["Secrets", "secrets.*."],
  ["Configs", "configs.*."],
  ["Models", "models.*."],
] as const;
/** The warning about them depends on their value. */
const TOLD_WITH_A_VALUE = ["build/provenance", "build/sbom", "gpus/*/options", "oom_kill_disable"].map((path) => `services/*/${path}`);
/** It is read before the schema sees the file (src/pod/compose/extends.ts). */
const EXTENDS: Field = { path: "services.*.extends", values: "text, fields", refusal: "" };

export function composePage(): string {
  const all = [EXTENDS, ...fieldsOf(composeFile, new Map([["include", "text, list of texts, fields"]]))];
  const told = new Map([
    ...OF_SERVICE.map(([path, why]): [string, string] => [pathOf(`services/*/${path}`, all), why]),
    ...OF_FILE.filter(([, , only]) => only === undefined).map(([path, why]): [string, string] => [pathOf(path, all), why]),
  ]);
  for (const path of TOLD_WITH_A_VALUE) told.set(pathOf(path, all), "has no effect, with a warning");
  const table = (fields: readonly Field[], prefix = "") => {
    const inside = fields.map((one) => ({ ...one, path: one.path.slice(prefix.length) }));
    return rows(inside, new Map([...told].map(([path, why]) => [path.slice(prefix.length), why])));
  };
  const isInPart = ({ path }: Field) => PARTS.some(([, prefix]) => path.startsWith(prefix));
  const sections = PARTS.map(
    ([title, prefix]) =>
      `## ${title}\n\n${table(
        all.filter(({ path }) => path.startsWith(prefix)),
        prefix,
      )}`,
  );
  const head = `# Fields of Compose files\n\n${HEAD}. [compose.md](compose.md) says what the fields do.\n\n${FORMS}`;
  return `${head}\n\n## The file\n\n${table(all.filter((one) => !isInPart(one)))}\n${sections.join("\n")}`;
}

/** The path of a table of fields without an effect, in the form of this page. */
function pathOf(path: string, all: readonly Field[]): string {
  const pattern = path
    .split("/")
    .map((part) => (part === "*" ? "(?:\\.\\*|\\[\\])" : `\\.${part}`))
    .join("");
  const whole = new RegExp(`^${pattern}$`);
  const found = all.find((one) => whole.test(`.${one.path}`)) ?? all.find((one) => whole.test(`.${one.path}.*`));
  if (found === undefined) throw new Error(`no field of the schema is ${path}`);
  return found.path;
}

/** Places of the pod of a workload. */
const OF_PODS = ["spec.template", "spec.jobTemplate.spec.template"];

const PLACED = "refused unless this host satisfies it; --ignore-cluster-fields leaves it out";
const ACCOUNT = "has no effect, with a warning; refused unless the file has the account";
const TOKEN = "`true` has no effect, with a warning";
/** What depends on more than the field itself (src/pod/manifest/placement.ts, accounts.ts). */
const OF_PODS_TOLD: ReadonlyMap<string, string> = new Map([
  ...["spec.affinity", "spec.nodeSelector", "spec.topologySpreadConstraints"].map((path): [string, string] => [path, PLACED]),
  ...["spec.serviceAccount", "spec.serviceAccountName"].map((path): [string, string] => [path, ACCOUNT]),
  ...["spec.automountServiceAccountToken", "automountServiceAccountToken"].map((path): [string, string] => [path, TOKEN]),
]);

export function podPage(): string {
  const sections = Object.entries(SCHEMAS).map(([kind, schema]) => {
    const known = kind === "Pod" ? [] : OF_PODS.map((path): [string, string] => [path, "a pod, as [above](#pod)"]);
    const metadata: [string, string][] = kind === "Pod" ? [] : [["metadata", "as [above](#pod)"]];
    return `## ${kind}\n\n${rows(fieldsOf(schema, new Map([...known, ...metadata])), OF_PODS_TOLD)}`;
  });
  const head = `# Fields of Kubernetes documents\n\n${HEAD}. [pods.md](pods.md) says what the fields do.\n\n${FORMS}`;
  return `${head}\n\n${sections.join("\n")}`;
}

export const FIELD_PAGES: ReadonlyMap<string, () => string> = new Map([
  ["docs/engine/compose-fields.md", composePage],
  ["docs/engine/pod-fields.md", podPage],
]);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) for (const [path, page] of FIELD_PAGES) writeFileSync(path, page());
