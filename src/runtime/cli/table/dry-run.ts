/** Verbs that show what would be. */
import { BUNDLE, CONFIG_LONG, CREATE_FLAGS } from "./create-flags.ts";
import { flag, type VerbDefinition } from "./definition.ts";

const HOST = flag("host", "string", "on which host: live, none, or one whose facts are in this file (default: live)", {
  value: "HOST",
});

export const DRY_RUN_VERBS: readonly VerbDefinition[] = [
  {
    name: "plan",
    summary: "print what create would do, and do nothing",
    positionals: "[container-id]",
    minimum: 0,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS.filter(({ name }) => name !== "dry-run" && name !== "expect-plan"),
      CONFIG_LONG,
      flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json|mermaid" }),
      flag("explain", "boolean", "say with each operation who does it, and with which system calls"),
      flag("run", "boolean", "of run, which needs no fifo, instead of create"),
      HOST,
      flag("out", "string", "write to this file instead", { value: "FILE" }),
    ],
  },
  {
    name: "validate",
    summary: "say everything that is wrong with bundles or config.json files, and do nothing",
    positionals: "[file|bundle]...",
    minimum: 0,
    maximum: Number.POSITIVE_INFINITY,
    failureStatus: 2,
    flags: [
      BUNDLE,
      flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json|sarif" }),
      flag("fail-on", "string", "from which level on the exit status is 1 (default: error)", { value: "error|warning|advice" }),
      HOST,
      flag("rootless", "boolean", "as for a user without rights on the host"),
      flag("quiet", "boolean", "print nothing, the exit status says it", { short: "q" }),
    ],
  },
  {
    name: "check",
    summary: "show what this host offers, what is missing, and what to do about it",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("format", "string", "form of the output (default: text); json is a file for --host", { short: "f", value: "text|json" }),
      flag("measure", "boolean", "measure, too: how long a move into a cgroup takes, by a cgroup that is made for it and removed"),
    ],
  },
  {
    name: "diff",
    summary: "compare the effective settings of two bundles, or of a bundle and a container",
    positionals: "<bundle-or-container> <bundle-or-container>",
    minimum: 2,
    maximum: 2,
    failureStatus: 2,
    flags: [flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json" })],
  },
  {
    name: "schema",
    summary: "print the JSON Schema of what runt reads and prints",
    positionals: "[config|findings|plan|inspect|check|state|gc]",
    minimum: 0,
    maximum: 1,
    flags: [],
  },
  {
    name: "explain",
    summary: "explain the code of a finding or of an error",
    positionals: "[code]",
    minimum: 0,
    maximum: 1,
    flags: [],
  },
];
