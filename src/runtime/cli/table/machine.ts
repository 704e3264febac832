/** The verb for virtual machines (docs/vm.md). */
import { flag, type VerbDefinition } from "./definition.ts";

export const MACHINE_VERBS: readonly VerbDefinition[] = [
  {
    name: "machine",
    summary: "look into the virtual machines of containers",
    positionals: "<list|console|metrics|exec-shell> [container-id] [shell-words...]",
    minimum: 1,
    maximum: Number.POSITIVE_INFINITY,
    flags: [
      flag("format", "string", "list: table (default) or json; metrics: text (default) or json", { short: "f", value: "FORMAT" }),
      flag("follow", "boolean", "console: also what the guest prints from now on"),
      flag("shell", "string", "exec-shell: a static program below /usr of this host (default: /usr/bin/busybox)", { value: "FILE" }),
      flag("tty", "boolean", "exec-shell: with a terminal (default: if the standard input is one)", { short: "t" }),
    ],
  },
];
