/** The flags that stand before the verb. */
import { type FlagDefinition, flag } from "./definition.ts";

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
