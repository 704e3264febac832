/** Verbs that print or write a document, and look at no container. */
import { RuntError } from "../../errors/index.ts";
import { hasCriu } from "../../execute/index.ts";
import * as host from "../../host/index.ts";
import { defaultSpec, featuresDocument } from "../../spec/index.ts";
import { completionScript } from "../completion/index.ts";
import { absolutePath, text, type Verb } from "../context.ts";
import { columns, print, type Row } from "../output.ts";

export const features: Verb = ({ flags }) => {
  const format = text(flags["format"]) ?? "json";
  if (format !== "table" && format !== "json") throw new RuntError("usage", `invalid format option: ${format} (use table or json)`);
  const document = featuresDocument(host.build, { criu: hasCriu() });
  if (format === "json") print(`${JSON.stringify(document, null, 4)}\n`);
  else print(featuresTable(document));
  return 0;
};

export const spec: Verb = ({ flags }) => {
  const bundle = absolutePath(text(flags["bundle"]) ?? ".");
  const file = text(flags["file"]) ?? "config.json";
  const path = file.startsWith("/") ? file : `${bundle}/${file}`;
  const document = defaultSpec({
    rootless: flags["rootless"] === true,
    euid: host.geteuid(),
    egid: host.getegid(),
    cgroup2: host.statfsType("/sys/fs/cgroup") === CGROUP2_SUPER_MAGIC,
  });
  try {
    host.writeFile(path, `${JSON.stringify(document, null, "\t")}\n`, host.O.WRONLY | host.O.CREAT | host.O.EXCL, 0o666);
  } catch (error) {
    if (host.isErrno(error, "EEXIST")) throw new RuntError("usage", `File ${file} exists. Remove it first`);
    throw new RuntError("config-read", `${path}: ${host.reason(error)}`, { cause: error });
  }
  return 0;
};

/** linux/magic.h */
const CGROUP2_SUPER_MAGIC = 0x6367_7270;

/** Name on the command line -> name of the embedded text. */
const SCHEMAS: Readonly<Record<string, string>> = {
  config: "schema",
  findings: "schema-findings",
  plan: "schema-plan",
  inspect: "schema-inspect",
  check: "schema-check",
  state: "schema-state",
  gc: "schema-gc",
};

export const schema: Verb = ({ positionals }) => {
  const name = positionals[0] ?? "config";
  const resource = Object.hasOwn(SCHEMAS, name) ? SCHEMAS[name] : undefined;
  if (resource === undefined) throw new RuntError("usage", `there is no schema "${name}": use ${Object.keys(SCHEMAS).join(", ")}`);
  const schema = host.resource(resource);
  if (schema === undefined) throw new RuntError("internal", `the schema ${resource} is not in this executable`);
  print(schema);
  return 0;
};

export const completion: Verb = ({ positionals }) => {
  const shell = positionals[0]!;
  const script = completionScript(shell);
  if (script === undefined) throw new RuntError("usage", `no completion for ${JSON.stringify(shell)}: use bash, zsh or fish`);
  print(script);
  return 0;
};

/** Columns of a line. */
const WIDTH = 100;

/** The features document for people: a line for every list and value, named by its place in the document. */
export function featuresTable(document: object): string {
  return columns(rowsOf(document, ""), WIDTH)
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}

function rowsOf(value: object, prefix: string): Row[] {
  return Object.entries(value).flatMap(([key, entry]: [string, unknown]): Row[] => {
    const name = prefix + key;
    if (Array.isArray(entry)) return [[name, entry.join(", ")]];
    // Annotations have dots of their own: their names stay whole.
    if (entry !== null && typeof entry === "object") return rowsOf(entry, key === "annotations" ? "" : `${name}.`);
    return [[name, String(entry)]];
  });
}
