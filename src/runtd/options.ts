/** The options of the command line, for parseArgs of node:util. */

/** The usual configuration file. */
export const CONFIG_FILE = "/etc/runt/runtd.json";

/** They say what this call of the program does. All others are settings, and each has a field in the configuration file. */
const CALL_OPTIONS = {
  once: { type: "boolean" },
  file: { type: "string", short: "f" },
  group: { type: "string", short: "g" },
  config: { type: "string" },
  "check-config": { type: "boolean" },
  "config-schema": { type: "boolean" },
  // Given once after a move. In a file it would also accept every later copy.
  moved: { type: "boolean" },
  help: { type: "boolean" },
} as const;

/** None has a default here: a field of the configuration file counts only where the option was not given. */
export const SETTING_OPTIONS = {
  "state-dir": { type: "string" },
  "run-dir": { type: "string" },
  "cgroup-parent": { type: "string" },
  "cgroup-manager": { type: "string" },
  "no-task-limits": { type: "boolean" },
  runtime: { type: "string" },
  "runtime-class": { type: "string", multiple: true },
  "user-ids": { type: "string" },
  "launch-timeout": { type: "string" },
  cpus: { type: "string" },
  memory: { type: "string" },
  queue: { type: "string" },
  "too-large": { type: "string" },
  orphans: { type: "string" },
  "port-taken": { type: "string" },
  "cdi-path": { type: "string" },
  "cni-path": { type: "string" },
  resolver: { type: "string" },
  "packet-filter": { type: "string" },
  "network-timeout": { type: "string" },
  "network-check": { type: "string" },
  "volume-check": { type: "string" },
  "journal-socket": { type: "string" },
  "pull-policy": { type: "string" },
  "pull-timeout": { type: "string" },
  "build-timeout": { type: "string" },
  "pulls-at-once": { type: "string" },
  "image-max-size": { type: "string" },
  "image-max-files": { type: "string" },
  "image-roots": { type: "string" },
  "image-gc-every": { type: "string" },
  "image-gc-age": { type: "string" },
  "image-gc-count": { type: "string" },
  "image-gc-full": { type: "string" },
  "image-gc-keep": { type: "string", multiple: true },
  "pull-upfront": { type: "boolean" },
  credentials: { type: "string", multiple: true },
  interlink: { type: "boolean" },
  "interlink-listen": { type: "string" },
  "interlink-token": { type: "string" },
  "interlink-host": { type: "string", multiple: true },
  "interlink-host-path": { type: "string", multiple: true },
  "interlink-network": { type: "string" },
  watch: { type: "string", multiple: true },
  "watch-every": { type: "string" },
} as const;

export const OPTIONS = { ...CALL_OPTIONS, ...SETTING_OPTIONS } as const;

type ValuesOf<Options extends Readonly<Record<string, { readonly type: "string" | "boolean"; readonly multiple?: true }>>> = {
  readonly [Name in keyof Options]?:
    | (Options[Name] extends { multiple: true } ? string[] : Options[Name] extends { type: "boolean" } ? boolean : string)
    | undefined;
};

export type SettingName = keyof typeof SETTING_OPTIONS;
export type Settings = ValuesOf<typeof SETTING_OPTIONS>;
export type Values = Settings & ValuesOf<typeof CALL_OPTIONS>;
