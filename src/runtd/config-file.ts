/**
 * The configuration file of the daemon: JSON with a field for each setting of the command line. The name of a field is that of its option in camel
 * case. Errors have line and column.
 */
import { isAbsolute } from "node:path";
import { z } from "zod";
import { durationSchema, type Finding, PULL_POLICIES, RUNTIME_NAME, readDocuments, shapeProblems, sizeSchema } from "../engine/index.ts";
import { withProposal } from "../pod/index.ts";
import { userIdsOf } from "./config.ts";
import { CONFIG_FILE, SETTING_OPTIONS, type SettingName, type Settings } from "./options.ts";
import { readTrustedFile } from "./trusted-file.ts";

/** In bytes. */
const LARGEST = 256 * 1024;

const path = z.string().refine(isAbsolute, "has to be an absolute path");
const words = <const Words extends readonly [string, ...string[]]>(...all: Words) => z.enum(all);
/** A text that this schema of task files accepts. It stays a text, as on the command line. */
const textOf = (schema: z.ZodType, example: string) =>
  z.string().superRefine((value, context) => {
    const { success, error } = schema.safeParse(value);
    if (!success) context.addIssue({ code: "custom", message: error.issues[0]?.message ?? `has to be written like ${example}` });
  });
/** A text that this function accepts. */
function checked(parse: (text: string) => unknown): z.ZodString {
  return z.string().superRefine((value, context) => {
    try {
      parse(value);
    } catch (error) {
      context.addIssue({ code: "custom", message: (error as Error).message });
    }
  });
}
const duration = textOf(durationSchema, "10s").describe("A duration, such as 10s or 5m");
const size = z.union([z.int().positive().transform(String), textOf(sizeSchema, "64Mi")]).describe("A size, such as 64Mi");
const count = z.int().min(1).max(999_999_999_999_999).transform(String);
const flag = z.boolean();
/** Directories, which the command line separates by colons. */
const paths = z
  .array(path.refine((one) => !one.includes(":"), "must not have a colon"))
  .min(1)
  .transform((all) => all.join(":"));
const texts = z.array(z.string().min(1));
const named = (value: z.ZodType<string>) => z.record(z.string().regex(RUNTIME_NAME, "has to be a name like vm"), value).transform(pairs);
const source = z.union([
  z.strictObject({ file: path }).transform(({ file }) => `file:${file}`),
  z.strictObject({ exec: path }).transform(({ exec }) => `exec:${exec}`),
]);
const CREDENTIALS_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/;

function pairs(record: Readonly<Record<string, string>>): string[] {
  return Object.entries(record).map(([name, value]) => `${name}=${value}`);
}

/** Each setting, by the name of its option. The values become those that the option would have. */
const FIELDS = {
  "state-dir": path,
  "run-dir": path,
  "cgroup-parent": path,
  "cgroup-manager": words("cgroupfs", "systemd"),
  "no-task-limits": flag,
  runtime: path,
  "runtime-class": named(path),
  "user-ids": checked(userIdsOf).describe("FIRST:COUNT"),
  "launch-timeout": duration,
  cpus: z.number().positive().transform(String),
  memory: size,
  queue: words("fifo", "backfill"),
  "too-large": words("wait", "refuse"),
  orphans: words("show", "adopt", "stop"),
  "port-taken": words("wait", "refuse"),
  "cdi-path": paths,
  "cni-path": paths,
  resolver: path,
  "packet-filter": words("auto", "nft", "iptables"),
  "network-timeout": duration,
  "network-check": duration,
  "volume-check": duration,
  "journal-socket": path,
  "pull-policy": z.enum(PULL_POLICIES),
  "pull-timeout": duration,
  "build-timeout": duration,
  "pulls-at-once": count,
  "image-max-size": size,
  "image-max-files": count,
  "image-roots": words("overlay", "copy"),
  "image-gc-every": duration,
  "image-gc-age": duration,
  "image-gc-count": count,
  "image-gc-full": z.int().min(0).max(100).transform(String),
  "image-gc-keep": texts,
  "pull-upfront": flag,
  credentials: z.record(z.string().regex(CREDENTIALS_NAME, "has to be a name like default"), source).transform(pairs),
  interlink: flag,
  "interlink-listen": z.string(),
  "interlink-token": path,
  "interlink-host": texts,
  "interlink-host-path": z.array(path),
  "interlink-network": words("bridge", "none"),
  watch: z.array(path),
  "watch-every": duration,
} satisfies { readonly [Name in SettingName]: z.ZodType<Settings[Name]> };

const schema = z.strictObject({
  $schema: z.string().optional(),
  ...Object.fromEntries(Object.entries(FIELDS).map(([name, field]) => [fieldOf(name), field.optional()])),
});

/** Such as stateDir for state-dir. */
export function fieldOf(option: string): string {
  return option.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** The JSON Schema of the file, for editors. */
export function configSchema(): Record<string, unknown> {
  return { ...z.toJSONSchema(schema, { io: "input" }), title: "Configuration of runtd" };
}

export interface ReadConfig {
  readonly path: string;
  /** Empty if there are findings. */
  readonly settings: Settings;
  readonly findings: readonly Finding[];
}

/** Checks the text of a configuration file. Pure. */
export function parseConfig(text: string): Omit<ReadConfig, "path"> {
  const [document, second] = readDocuments(text, "configuration");
  const findings = [...document!.findings];
  if (second !== undefined) findings.push(second.place({ code: "shape", message: "the file has more than one document", path: [] }));
  if (findings.length > 0) return { settings: {}, findings };
  const parsed = schema.safeParse(document!.value);
  if (!parsed.success) {
    const found = shapeProblems(parsed.error).map((one) => document!.place(withProposal(schema, one)));
    return { settings: {}, findings: found.sort((a, b) => a.line - b.line || a.column - b.column) };
  }
  const values = parsed.data as Readonly<Record<string, unknown>>;
  const given = Object.keys(SETTING_OPTIONS).flatMap((name) => {
    const value = values[fieldOf(name)];
    return value === undefined ? [] : [[name, value]];
  });
  return { settings: Object.fromEntries(given) as Settings, findings: [] };
}

/**
 * @param file undefined: the usual one, which may be missing. Returns undefined if it is.
 * @throws UntrustedFileError; the error of open(2)
 */
export function readConfig(file: string | undefined): ReadConfig | undefined {
  const path = file ?? CONFIG_FILE;
  try {
    return { path, ...parseConfig(readTrustedFile(path, LARGEST).text) };
  } catch (error) {
    if (file === undefined && (error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
