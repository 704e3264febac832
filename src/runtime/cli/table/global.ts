/** The flags that stand before the verb. */
import { type FlagDefinition, flag } from "./definition.ts";

export const GLOBAL_FLAGS: readonly FlagDefinition[] = [
  flag("root", "string", "directory of the container states (default: /run/runt, or $XDG_RUNTIME_DIR/runt when rootless)", {
    value: "DIR",
  }),
  flag(
    "log",
    "string",
    "write errors to this file too, and warnings (into a JSON log only with --debug or --log-level), or to the journal: journald:NAME",
    { value: "FILE" },
  ),
  flag("log-format", "string", "format of --log (default: text)", { value: "text|json" }),
  flag("debug", "boolean", "tell every warning; create, run and exec also each step"),
  flag("log-level", "string", "what is told beside errors (default: warnings about capabilities)", { value: "debug|info|warning|error" }),
  flag("systemd-cgroup", "boolean", "let systemd make the cgroups; linux.cgroupsPath is slice:prefix:name then"),
  flag("cgroup-manager", "string", "who makes the cgroups (default: cgroupfs); disabled: containers get none of their own", {
    value: "cgroupfs|systemd|disabled",
  }),
  flag("rootless", "string", "ignore cgroup permission errors (default: auto)", { value: "true|false|auto" }),
  flag("criu", "string", "the criu program for checkpoint and restore (default: criu in PATH)", { value: "FILE" }),
  flag("trace", "string", "write what this call does, and when, to this file: Chrome's trace format, for Perfetto or chrome://tracing", {
    value: "FILE",
  }),
  flag("help", "boolean", "show help", { short: "h" }),
  flag("version", "boolean", "show the version", { short: "v" }),
];
