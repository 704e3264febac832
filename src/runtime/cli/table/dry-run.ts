/** Verbs that show what would be. */
import { BUNDLE, CONFIG_LONG, CREATE_FLAGS } from "./create-flags.ts";
import { flag, type VerbDefinition } from "./definition.ts";

const HOST = flag("host", "string", "check for this host: live (this one), none, or a file of runt check -f json (default: live)", {
  value: "HOST",
});

export const DRY_RUN_VERBS: readonly VerbDefinition[] = [
  {
    name: "plan",
    summary: "print the operations of create, and do nothing",
    positionals: "[container-id]",
    minimum: 0,
    maximum: 1,
    flags: [
      ...CREATE_FLAGS.filter(({ name }) => name !== "dry-run" && name !== "expect-plan"),
      CONFIG_LONG,
      flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json|mermaid" }),
      flag("explain", "boolean", "show for each operation the process that executes it, and its system calls"),
      flag("run", "boolean", "print the plan of run (it needs no fifo) instead of create"),
      HOST,
      flag("out", "string", "write to this file instead", { value: "FILE" }),
    ],
  },
  {
    name: "validate",
    summary: "report every problem of bundles or config.json files, and do nothing",
    positionals: "[file|bundle]...",
    minimum: 0,
    maximum: Number.POSITIVE_INFINITY,
    failureStatus: 2,
    flags: [
      BUNDLE,
      flag("format", "string", "form of the output (default: text)", { short: "f", value: "text|json|sarif" }),
      flag("fail-on", "string", "lowest level of a finding for which the exit status is 1 (default: error)", {
        value: "error|warning|advice",
      }),
      HOST,
      flag("rootless", "boolean", "check for a user without rights on the host"),
      flag("quiet", "boolean", "print nothing; only set the exit status", { short: "q" }),
    ],
  },
  {
    name: "check",
    summary: "show the features that this host offers or lacks, and how to get them",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("format", "string", "form of the output (default: text); json is a file for --host", { short: "f", value: "text|json" }),
      flag("measure", "boolean", "also measure how long a move into a cgroup takes; makes a cgroup for it and removes it"),
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
    summary: "print the JSON Schema of config.json, or of a document that runt prints",
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
