/** Verbs that make a container or a process in it. */
import { CONFIG, CREATE_FLAGS } from "./create-flags.ts";
import { flag, type VerbDefinition } from "./definition.ts";

const RECORDED_SIZES = flag(
  "resize-fifo",
  "string",
  "with --exit-record: read new sizes of the terminal from this FIFO, a line ROWS COLUMNS each",
  { value: "FIFO" },
);

const RECORDED_DEADLINE = flag(
  "deadline-fifo",
  "string",
  "with --exit-record: kill the container so many milliseconds after a line MILLISECONDS was read from this FIFO",
  { value: "FIFO" },
);

const OUTPUT_LOG = [
  flag("output-log", "string", "with --exit-record: write the output of the pipes at stdout and stderr to this file, with timestamps", {
    value: "FILE",
  }),
  flag("output-log-size", "string", "with --output-log: maximum size of a file; then a new one begins (default: 10485760)", {
    value: "BYTES",
  }),
  flag("output-log-files", "number", "with --output-log: number of files to keep, FILE, FILE.1 and so on (default: 3)", { value: "N" }),
];

export const START_VERBS: readonly VerbDefinition[] = [
  {
    name: "create",
    summary: "create a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS,
      CONFIG,
      flag("exit-record", "string", "write how the container ended to this file, which must not exist", { value: "FILE" }),
      RECORDED_SIZES,
      RECORDED_DEADLINE,
      ...OUTPUT_LOG,
      flag("no-subreaper", "boolean", "has no effect", { hidden: true }),
    ],
  },
  {
    name: "start",
    summary: "start the process of a created container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [flag("process", "string", "for a template: read the process from this JSON file", { short: "p", value: "FILE" })],
  },
  {
    name: "run",
    summary: "create and start a container",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS,
      CONFIG,
      flag("detach", "boolean", "do not wait for the container to end", { short: "d" }),
      flag("exit-record", "string", "with --detach: write how the container ended to this file, which must not exist", {
        value: "FILE",
      }),
      RECORDED_SIZES,
      RECORDED_DEADLINE,
      ...OUTPUT_LOG,
      flag("keep", "boolean", "keep state and cgroup when the container has ended"),
      flag("no-subreaper", "boolean", "do not adopt the container's orphans"),
    ],
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
      flag("console-size", "string", "with --tty: size of the terminal at the beginning", { value: "ROWSxCOLUMNS" }),
      flag("resize-fifo", "string", "with --tty: read new sizes of the terminal from this FIFO, a line ROWS COLUMNS each", {
        value: "FIFO",
      }),
      flag("cwd", "string", "working directory in the container", { value: "DIR" }),
      flag("env", "string", "set an environment variable, NAME=VALUE", { short: "e", value: "ENTRY", repeatable: true }),
      flag("user", "string", "numeric user and group, UID or UID:GID", { short: "u", value: "USER" }),
      flag("additional-gids", "string", "add a supplementary group", { short: "g", value: "GID", repeatable: true }),
      flag("process", "string", "read the process from this JSON file instead", { short: "p", value: "FILE" }),
      flag("detach", "boolean", "do not wait for the process to end", { short: "d" }),
      flag("pid-file", "string", "write the pid of the process to this file", { value: "FILE" }),
      flag("pidfd-socket", "string", "unix socket that receives a pidfd of the process", { value: "SOCKET" }),
      flag("no-new-privs", "boolean", "the process cannot gain privileges by execve"),
      flag("cap", "string", "add a capability to the bounding, permitted and effective sets", {
        short: "c",
        value: "NAME",
        repeatable: true,
      }),
      flag("apparmor", "string", "AppArmor profile of the process", { value: "PROFILE" }),
      flag("process-label", "string", "SELinux label of the process", { value: "LABEL" }),
      flag("preserve-fds", "number", "pass this many descriptors above stdio to the process, if they are open", { value: "N" }),
      flag("cgroup", "string", "join this cgroup below the container's own, [CONTROLLER,...:]PATH", { value: "CGROUP", repeatable: true }),
      flag("timeout", "string", "maximum time until the program runs, such as 500ms, 5s or 1m30s", { value: "DURATION" }),
      flag("ignore-paused", "boolean", "accept a paused container; the process starts when it is resumed"),
      flag("no-subreaper", "boolean", "has no effect", { hidden: true }),
    ],
  },
];
