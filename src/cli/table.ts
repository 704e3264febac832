/**
 * The command line as data: every verb, flag and positional. The parser, the help, and later man pages and completion are
 * made from this table. Flags are Go style (one or two dashes, `--flag=value` or `--flag value`), as engines send them.
 */
export interface FlagDefinition {
  readonly name: string;
  /** One-letter form. */
  readonly short?: string;
  readonly kind: "boolean" | "string" | "number";
  readonly value?: string;
  readonly help: string;
  /** Understood, but not shown in help: internal, or accepted only because engines send it. */
  readonly hidden?: boolean;
}

export interface VerbDefinition {
  readonly name: VerbName;
  readonly summary: string;
  /** Positionals as shown in help: "<container-id> [signal]". */
  readonly positionals: string;
  readonly minimum: number;
  readonly maximum: number;
  readonly flags: readonly FlagDefinition[];
  readonly examples: readonly string[];
}

export type VerbName = "create" | "start" | "state" | "kill" | "delete" | "run" | "list" | "spec" | "features" | "plan";

const flag = (name: string, kind: FlagDefinition["kind"], help: string, rest: Partial<FlagDefinition> = {}): FlagDefinition => ({
  name,
  kind,
  help,
  ...rest,
});

export const GLOBAL_FLAGS: readonly FlagDefinition[] = [
  flag("root", "string", "directory of the container states (default /run/runt, or $XDG_RUNTIME_DIR/runt when rootless)", { value: "DIR" }),
  flag("log", "string", "write errors to this file too", { value: "FILE" }),
  flag("log-format", "string", "format of --log: text (default) or json", { value: "FORMAT" }),
  flag("debug", "boolean", "print what is done and every warning"),
  flag("systemd-cgroup", "boolean", "use the systemd cgroup driver (not in this version)"),
  flag("rootless", "string", "ignore cgroup permission errors: true, false or auto (default)", { value: "WHEN" }),
  flag("help", "boolean", "show help", { short: "h" }),
  flag("version", "boolean", "show the version", { short: "v" }),
];

const BUNDLE = flag("bundle", "string", "bundle directory (default: the current directory)", { short: "b", value: "DIR" });
const CREATE_FLAGS: readonly FlagDefinition[] = [
  BUNDLE,
  flag("console-socket", "string", "unix socket that receives the terminal's master side", { value: "SOCKET" }),
  flag("pid-file", "string", "write the pid of the container's process to this file", { value: "FILE" }),
  flag("no-pivot", "boolean", "move the root file system instead of pivot_root (for a ramdisk root)"),
  flag("no-new-keyring", "boolean", "keep the caller's session keyring"),
  flag("preserve-fds", "number", "hand this many descriptors above stdio to the container", { value: "N" }),
  flag("dry-run", "boolean", "print the plan and change nothing"),
];

export const VERBS: readonly VerbDefinition[] = [
  {
    name: "create",
    summary: "create a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: CREATE_FLAGS,
    examples: ["runt create -b /bundles/web web", "runt create --dry-run -b /bundles/web web"],
  },
  {
    name: "start",
    summary: "start the process of a created container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
    examples: ["runt start web"],
  },
  {
    name: "run",
    summary: "create and start a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS,
      flag("detach", "boolean", "do not wait for the container to end", { short: "d" }),
      flag("keep", "boolean", "keep state and cgroup when the container has ended"),
      flag("no-subreaper", "boolean", "do not adopt the container's orphans"),
    ],
    examples: ["runt run -b /bundles/hello hello", "runt run -d --pid-file web.pid -b /bundles/web web"],
  },
  {
    name: "state",
    summary: "show the state of a container as JSON",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
    examples: ["runt state web"],
  },
  {
    name: "list",
    summary: "list the containers",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("format", "string", "table (default) or json", { short: "f", value: "FORMAT" }),
      flag("quiet", "boolean", "ids only", { short: "q" }),
    ],
    examples: ["runt list", "runt list -f json"],
  },
  {
    name: "kill",
    summary: "send a signal to the container's process",
    positionals: "<container-id> [signal]",
    minimum: 1,
    maximum: 2,
    flags: [flag("all", "boolean", "send it to every process of the container", { short: "a" })],
    examples: ["runt kill web", "runt kill web KILL", "runt kill --all web 9"],
  },
  {
    name: "delete",
    summary: "delete what a stopped container left",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [flag("force", "boolean", "kill it first if it runs; an unknown id is not an error", { short: "f" })],
    examples: ["runt delete web", "runt delete --force web"],
  },
  {
    name: "spec",
    summary: "write an example config.json",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [BUNDLE, flag("rootless", "boolean", "for a user without rights on the host")],
    examples: ["runt spec", "runt spec --rootless -b /bundles/new"],
  },
  {
    name: "features",
    summary: "show what this runtime can do as JSON",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [],
    examples: ["runt features"],
  },
  {
    name: "plan",
    summary: "print what create would do, and do nothing",
    positionals: "[container-id]",
    minimum: 0,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS.filter(({ name }) => name !== "dry-run"),
      flag("format", "string", "text (default) or json", { short: "f", value: "FORMAT" }),
    ],
    examples: ["runt plan -b /bundles/web"],
  },
];
