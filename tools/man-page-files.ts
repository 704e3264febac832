/** Section 5 of the manual: the files that a user writes, made from what reads them. Pure: data in, text out. */
import { z } from "zod";
import { taskSchema } from "../src/engine/spec/index.ts";
import { configSchema, fieldOf } from "../src/runtd/config-file.ts";
import { CONFIG_FILE, SETTING_OPTIONS } from "../src/runtd/options.ts";
import { USAGE } from "../src/runtd/usage.ts";
import { DEFAULT_SETTINGS, type MachineSettings } from "../src/runtime/isolation/asked/settings.ts";
import { optionsIn } from "./man-page-tasks.ts";
import { heading, literal, page, paragraphs, terms } from "./man-text.ts";

const SECTION = 5;

export function filePages(version: string): ReadonlyMap<string, string> {
  return new Map([
    [`runtd-task.${SECTION}`, taskPage(version)],
    [`runtd.json.${SECTION}`, daemonPage(version)],
    [`runt-vm.${SECTION}`, machinePage(version)],
  ]);
}

/** What this module reads of a JSON Schema. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly $defs?: Readonly<Record<string, Schema>>;
}

export const TASK_EXAMPLE = [
  "name: web",
  "memory: 256Mi",
  "containers:",
  "  - name: migrate",
  "    image: docker://registry.example/web:1.4",
  "    command: /app/migrate",
  "    essential: false",
  "  - name: web",
  "    image: docker://registry.example/web:1.4",
  "    dependsOn: [{ container: migrate, condition: SUCCESS, timeout: 5m }]",
  "    healthCheck: { command: [/app/healthy], interval: 10s }",
];

function taskPage(version: string): string {
  const schema = z.toJSONSchema(taskSchema, { io: "input" }) as Schema;
  const parts = partsOf(schema);
  return page({ name: "runtd-task", section: SECTION, version, source: "src/engine/spec/schema" }, [
    ...heading("NAME", ["runtd\\-task \\- file that describes a task of runtd"]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "A task is a group of containers that start and stop together. A task file is YAML or JSON; each document of the file is one task, or a pool of prepared containers with other fields. runtctl apply sends it to runtd(8), runtctl validate checks it without a daemon, and runtctl schema prints its JSON Schema.",
        "runtctl also reads Compose files, documents of Kubernetes and Quadlet files. They have other fields.",
        "An unknown field is an error. A duration is a text like 1h30m, 10s or 500ms, or a number of seconds. A size is a text like 64Mi or 500M, or a number of bytes. In the names below, [] is each entry of a list, and * each name of a map.",
      ]),
    ),
    ...parts.flatMap(({ title, fields }) => heading(title, terms(fields))),
    ...heading("EXAMPLE", [".EX", ...TASK_EXAMPLE.map(literal), ".EE"]),
    ...heading("SEE ALSO", [".BR runtctl (1),", ".BR runtd (8)"]),
  ]);
}

interface SchemaPart {
  readonly title: string;
  readonly fields: (readonly [string, string])[];
}

/** The fields of the task itself, and a part for each field that has fields of its own. */
function partsOf(root: Schema): SchemaPart[] {
  const own: SchemaPart = { title: "TASK", fields: [] };
  const parts: SchemaPart[] = [];
  for (const [name, schema] of Object.entries(root.properties ?? {})) {
    own.fields.push(row(name, schema, root, root.required?.includes(name) ?? false));
    const fields = fieldsBelow(name, schema, root, new Set());
    if (fields.length > 0) parts.push({ title: name.toUpperCase(), fields });
  }
  return [own, ...parts];
}

/** Every field inside of a field, by its path. A schema that is inside of itself is listed once. */
function fieldsBelow(path: string, schema: Schema, root: Schema, above: ReadonlySet<Schema>): (readonly [string, string])[] {
  const found = resolved(schema, root);
  if (above.has(found)) return [];
  const inside = new Set([...above, found]);
  const members = Object.entries(found.properties ?? {}).flatMap(([name, inner]) => {
    const at = `${path}.${name}`;
    return [row(at, inner, root, found.required?.includes(name) ?? false), ...fieldsBelow(at, inner, root, inside)];
  });
  const entries = [...(found.items === undefined ? [] : [found.items]), ...(found.prefixItems ?? [])];
  const values = typeof found.additionalProperties === "object" ? [found.additionalProperties] : [];
  return unique([
    ...members,
    ...entries.flatMap((one) => fieldsBelow(`${path}[]`, one, root, inside)),
    ...values.flatMap((one) => fieldsBelow(`${path}.*`, one, root, inside)),
    ...(found.anyOf ?? []).flatMap((one) => fieldsBelow(path, one, root, inside)),
  ]);
}

const unique = (fields: readonly (readonly [string, string])[]) => [...new Map(fields).entries()];

function row(path: string, schema: Schema, root: Schema, isRequired: boolean): readonly [string, string] {
  const found = resolved(schema, root);
  const preset = schema.default ?? found.default;
  const words = [
    `${valuesOf(schema, root)}${isRequired && preset === undefined ? ", required" : ""}.`,
    schema.description ?? found.description ?? "",
    isShown(preset) ? `Default: ${typeof preset === "string" ? preset : JSON.stringify(preset)}.` : "",
  ];
  return [path, words.filter((text) => text !== "").join(" ")];
}

/** The defaults of objects and lists are those of their fields. */
const isShown = (preset: unknown) => preset !== undefined && (typeof preset !== "object" || preset === null);

function valuesOf(schema: Schema, root: Schema): string {
  const { enum: values, const: constant, anyOf, items, prefixItems, properties, additionalProperties, type } = resolved(schema, root);
  if (values !== undefined) return values.map(String).join(" | ");
  if (constant !== undefined) return String(constant);
  if (anyOf !== undefined) return [...new Set(anyOf.map((one) => valuesOf(one, root)))].join(" or ");
  if (items !== undefined || prefixItems !== undefined) {
    const inner = [...new Set([...(prefixItems ?? []), ...(items === undefined ? [] : [items])].map((one) => valuesOf(one, root)))];
    return `list of ${inner.join(" or ").replace(/\b(?:object|text|number|integer)\b/g, "$&s")}`;
  }
  if (properties !== undefined) return "object";
  if (typeof additionalProperties === "object") return `map to ${valuesOf(additionalProperties, root)}`;
  const types = typeof type === "string" ? [type] : (type ?? ["any value"]);
  return types.map((one) => (one === "string" ? "text" : one)).join(" or ");
}

function resolved(schema: Schema, root: Schema): Schema {
  const name = schema.$ref?.replace(/^#\/\$defs\//, "");
  if (name === undefined) return schema;
  const found = name === "#" ? root : root.$defs?.[name];
  if (found === undefined) throw new Error(`manual page: the schema has no ${schema.$ref}`);
  return resolved(found, root);
}

/** Each field with its values, and with the text of its option. */
function daemonPage(version: string): string {
  const schema = configSchema() as Schema;
  const texts = new Map(optionsIn(USAGE).map(([flags, text]) => [/--([\w-]+)/.exec(flags)?.[1], text]));
  const fields = Object.keys(SETTING_OPTIONS).map((option) => {
    const [name, values] = row(fieldOf(option), schema.properties![fieldOf(option)]!, schema, false);
    const text = texts.get(option) ?? "";
    return [name, `${values.replace(/\.$/, "")}. ${text.charAt(0).toUpperCase()}${text.slice(1)}`.trim()] as const;
  });
  return page({ name: "runtd.json", section: SECTION, version, source: "src/runtd/config-file.ts" }, [
    ...heading("NAME", ["runtd.json \\- settings of runtd"]),
    ...heading("SYNOPSIS", [CONFIG_FILE]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "runtd(8) reads this JSON file when it starts; runtd --config FILE names another one. Each setting has the meaning of the option with the same name, and the option overrides it. An unknown field is an error. runtd --check-config checks the file, and runtd --config-schema prints its JSON Schema.",
      ]),
    ),
    ...heading("SETTINGS", terms(fields)),
    ...heading("EXAMPLE", [".EX", literal('{ "cgroupManager": "systemd", "memory": "12Gi", "queue": "backfill" }'), ".EE"]),
    ...heading("SEE ALSO", [".BR runtd (8)"]),
  ]);
}

/** One text for each setting of the file. `own` is not one of them: annotations set it. */
const SETTINGS: Readonly<Record<Exclude<keyof MachineSettings, "own" | "allow">, string>> = {
  image: "Directory with the kernel and the disk of the guest, as make guest-image writes it.",
  hypervisor: "Path of QEMU. It must not contain an equals sign.",
  virtiofsd: "Path of the program that shares files with the guest. It must not contain an equals sign.",
  user: "User and group id of the hypervisor. At least 1.",
  memoryMiB: "Memory of a machine whose container has no memory limit, in MiB.",
  cacheMiB: "Translation cache of the emulator, in MiB.",
  memoryMostMiB: "Memory of the largest machine that a configuration may ask for, in MiB.",
  cpusMost: "Processors of the largest machine that a configuration may ask for.",
  bootSeconds: "Time limit for booting the machine and creating the container, in seconds.",
  accelerator: "kvm; tcg (software emulation); or auto: KVM if it works.",
  console: "true: the end of the output of the guest's console is kept, and an error message quotes it.",
  kernelParameters: "List of parameters for the guest's kernel, in addition to those of runt.",
  fileCache: "How long the guest may cache data and metadata of shared files: never, auto or always.",
};

const ALLOWED: Readonly<Record<keyof MachineSettings["allow"], string>> = {
  images: "List of directories that config.json or an annotation may name instead of image.",
  hypervisors: "List of programs that config.json or an annotation may name instead of hypervisor.",
  annotations: "List of annotations of Kata Containers that have an effect, by the last word of their names.",
};

function machinePage(version: string): string {
  const withDefault = (text: string, preset: unknown) =>
    `${text} Default: ${Array.isArray(preset) && preset.length === 0 ? "an empty list" : String(preset)}.`;
  return page({ name: "runt-vm", section: SECTION, version, source: "src/runtime/isolation/asked/settings.ts" }, [
    ...heading("NAME", ["runt\\-vm \\- settings of the virtual machines of runt"]),
    ...heading("SYNOPSIS", ["/etc/runt/vm.json"]),
    ...heading(
      "DESCRIPTION",
      paragraphs([
        "runt create --isolation vm, or a link to runt with the name runt-vm, runs a container in a virtual machine. This JSON file has the settings of these machines. RUNT_VM_CONFIG names another file. Without a file, the defaults apply. An unknown setting is an error.",
      ]),
    ),
    ...heading(
      "SETTINGS",
      terms([
        ...Object.entries(SETTINGS).map(
          ([name, text]) => [name, withDefault(text, DEFAULT_SETTINGS[name as keyof typeof SETTINGS])] as const,
        ),
        ...Object.entries(ALLOWED).map(
          ([name, text]) => [`allow.${name}`, withDefault(text, DEFAULT_SETTINGS.allow[name as keyof typeof ALLOWED])] as const,
        ),
      ]),
    ),
    ...heading("EXAMPLE", [".EX", ...['{ "memoryMiB": 512, "accelerator": "kvm" }'].map(literal), ".EE"]),
    ...heading("SEE ALSO", [".BR runt (8),", ".BR runt\\-create (8)"]),
  ]);
}
