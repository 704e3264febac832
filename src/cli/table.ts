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
  /** May be given more than once; its value is a list. Never split at commas. */
  readonly repeatable?: boolean;
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
  /** What follows the first positional is somebody else's command line. */
  readonly stopsAtFirst?: boolean;
  /** Exit status of every failure of runt's own, where it is to be told from the program's. */
  readonly failureStatus?: number;
  readonly examples: readonly string[];
}

export type VerbName =
  | "create"
  | "start"
  | "state"
  | "kill"
  | "delete"
  | "run"
  | "exec"
  | "ps"
  | "pause"
  | "resume"
  | "update"
  | "events"
  | "list"
  | "spec"
  | "features"
  | "plan";

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
  flag("systemd-cgroup", "boolean", "let systemd make the cgroups; linux.cgroupsPath is slice:prefix:name then"),
  flag("cgroup-manager", "string", "cgroupfs (default), systemd, or disabled: containers get no cgroup of their own", { value: "MANAGER" }),
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
  flag("cgroup-parent", "string", "put the container's cgroup below this one: an absolute path, or with systemd a slice", {
    value: "PARENT",
  }),
  flag("dry-run", "boolean", "print the plan and change nothing"),
];

const UPDATE_FLAGS: readonly FlagDefinition[] = [
  flag("resources", "string", "read linux.resources as JSON from this file, or from stdin (-); the flags for it are ignored then", {
    short: "r",
    value: "FILE",
  }),
  flag("blkio-weight", "string", "block I/O weight, 10 to 1000", { value: "N" }),
  flag("cpu-period", "string", "CFS period in microseconds", { value: "N" }),
  flag("cpu-quota", "string", "CFS quota in microseconds a period; -1 = unlimited", { value: "N" }),
  flag("cpu-burst", "string", "CFS burst in microseconds", { value: "N" }),
  flag("cpu-share", "string", "relative weight of the container's CPU time", { value: "N" }),
  flag("cpu-rt-period", "string", "real-time period in microseconds", { value: "N" }),
  flag("cpu-rt-runtime", "string", "real-time runtime in microseconds", { value: "N" }),
  flag("cpu-idle", "string", "1: run only when nothing else wants to; 0: normal", { value: "N" }),
  flag("cpuset-cpus", "string", "CPUs to use (0-3,7)", { value: "LIST" }),
  flag("cpuset-mems", "string", "memory nodes to use", { value: "LIST" }),
  flag("memory", "string", "memory limit in bytes, or with b, k, m, g, t, p; -1 = unlimited", { value: "SIZE" }),
  flag("memory-reservation", "string", "memory protected under pressure", { value: "SIZE" }),
  flag("memory-swap", "string", "limit of memory and swap together; -1 = unlimited swap", { value: "SIZE" }),
  flag("pids-limit", "string", "most processes; -1 = unlimited", { value: "N" }),
  flag("l3-cache-schema", "string", "share of the L3 cache, as in linux.intelRdt (L3:0=ff;1=c0)", { value: "SCHEMA" }),
  flag("mem-bw-schema", "string", "share of the memory bandwidth, as in linux.intelRdt (MB:0=50;1=70)", { value: "SCHEMA" }),
  flag("kernel-memory", "string", "has no effect", { hidden: true }),
  flag("kernel-memory-tcp", "string", "has no effect", { hidden: true }),
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
    name: "exec",
    summary: "run a further process in a container",
    positionals: "<container-id> [command...]",
    minimum: 1,
    maximum: Number.POSITIVE_INFINITY,
    stopsAtFirst: true,
    failureStatus: 255,
    flags: [
      flag("tty", "boolean", "give the process a terminal", { short: "t" }),
      flag("console-socket", "string", "unix socket that receives the terminal's master side", { value: "SOCKET" }),
      flag("cwd", "string", "working directory in the container", { value: "DIR" }),
      flag("env", "string", "set an environment variable, NAME=VALUE", { short: "e", value: "ENTRY", repeatable: true }),
      flag("user", "string", "numeric user and group, UID or UID:GID", { short: "u", value: "USER" }),
      flag("additional-gids", "string", "add a supplementary group", { short: "g", value: "GID", repeatable: true }),
      flag("process", "string", "read the process from this JSON file instead", { short: "p", value: "FILE" }),
      flag("detach", "boolean", "do not wait for the process to end", { short: "d" }),
      flag("pid-file", "string", "write the pid of the process to this file", { value: "FILE" }),
      flag("no-new-privs", "boolean", "the process cannot gain privileges by execve"),
      flag("cap", "string", "add a capability to the bounding, permitted and effective sets", {
        short: "c",
        value: "NAME",
        repeatable: true,
      }),
      flag("apparmor", "string", "AppArmor profile of the process", { value: "PROFILE" }),
      flag("process-label", "string", "SELinux label of the process", { value: "LABEL" }),
      flag("preserve-fds", "number", "hand this many descriptors above stdio to the process", { value: "N" }),
      flag("cgroup", "string", "join this cgroup below the container's own, [CONTROLLER,...:]PATH", { value: "CGROUP", repeatable: true }),
      flag("ignore-paused", "boolean", "also in a paused container; the process starts when it is resumed"),
      flag("no-subreaper", "boolean", "has no effect", { hidden: true }),
    ],
    examples: ["runt exec web ps", "runt exec -t -e TERM=xterm web sh", "runt exec -d --pid-file p --process process.json web"],
  },
  {
    name: "ps",
    summary: "show the processes of a container",
    positionals: "<container-id> [ps-options...]",
    minimum: 1,
    maximum: Number.POSITIVE_INFINITY,
    stopsAtFirst: true,
    flags: [flag("format", "string", "table (default) or json", { short: "f", value: "FORMAT" })],
    examples: ["runt ps web", "runt ps web -o pid,comm", "runt ps --format json web"],
  },
  {
    name: "pause",
    summary: "stop every process of a container where it is",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
    examples: ["runt pause web"],
  },
  {
    name: "resume",
    summary: "let the processes of a paused container go on",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
    examples: ["runt resume web"],
  },
  {
    name: "update",
    summary: "change the limits of a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: UPDATE_FLAGS,
    examples: [
      "runt update --memory 64m --pids-limit 100 web",
      "runt update --cpu-quota 50000 web",
      "runt update --resources - web < limits.json",
    ],
  },
  {
    name: "events",
    summary: "show what a container uses, and when the kernel kills in it for memory",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      flag("interval", "string", "time between two statistics (default 5s)", { value: "DURATION" }),
      flag("stats", "boolean", "show the statistics once"),
    ],
    examples: ["runt events web", "runt events --stats web", "runt events --interval 500ms web"],
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
