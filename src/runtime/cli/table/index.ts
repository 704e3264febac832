/**
 * The command line as data: every verb, flag and positional. The parser, the help, the man pages and the completion are
 * made from this table. Flags are Go style (one or two dashes, `--flag=value` or `--flag value`), as engines send them.
 */
import { CONTROL_VERBS } from "./control.ts";
import { CRIU_VERBS } from "./criu.ts";
import { type FlagDefinition, flag, type VerbDefinition } from "./definition.ts";
import { DRY_RUN_VERBS } from "./dry-run.ts";
import { LOOK_VERBS } from "./look.ts";
import { MACHINE_VERBS } from "./machine.ts";
import { START_VERBS } from "./start.ts";

export type { FlagDefinition, VerbDefinition, VerbName } from "./definition.ts";

/** In the order of the help. */
export const VERBS: readonly VerbDefinition[] = [
  ...START_VERBS,
  ...LOOK_VERBS,
  ...CONTROL_VERBS,
  ...CRIU_VERBS,
  ...DRY_RUN_VERBS,
  ...MACHINE_VERBS,
];

/** The flags that stand before the verb. */
export const GLOBAL_FLAGS: readonly FlagDefinition[] = [
  flag("root", "string", "directory of the container states (default: /run/runt, or $XDG_RUNTIME_DIR/runt when rootless)", {
    value: "DIR",
  }),
  flag(
    "log",
    "string",
    "also write errors and warnings to this file, or to the journal (journald:NAME); a JSON log has warnings only with --debug or --log-level",
    { value: "FILE" },
  ),
  flag("log-format", "string", "format of --log (default: text)", { value: "text|json" }),
  flag("debug", "boolean", "print every warning, and for create, run and exec also each step"),
  flag("log-level", "string", "lowest level of messages (default: errors, and warnings about capabilities)", {
    value: "debug|info|warning|error",
  }),
  flag("systemd-cgroup", "boolean", "let systemd make the cgroups; linux.cgroupsPath is then slice:prefix:name"),
  flag("cgroup-manager", "string", "how to make the cgroups (default: cgroupfs); disabled: containers get no cgroups", {
    value: "cgroupfs|systemd|disabled",
  }),
  flag("rootless", "string", "ignore cgroup permission errors (default: auto)", { value: "true|false|auto" }),
  flag("criu", "string", "the criu program for checkpoint and restore (default: criu in PATH)", { value: "FILE" }),
  flag("trace", "string", "write a timeline of this call to this file, in Chrome's trace format, for Perfetto or chrome://tracing", {
    value: "FILE",
  }),
  flag("help", "boolean", "show help", { short: "h" }),
  flag("version", "boolean", "show the version", { short: "v" }),
];
