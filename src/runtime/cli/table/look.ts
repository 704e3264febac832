/** Verbs that show what is. */
import { BUNDLE } from "./create-flags.ts";
import { flag, type VerbDefinition } from "./definition.ts";

export const LOOK_VERBS: readonly VerbDefinition[] = [
  {
    name: "state",
    summary: "show the state of a container as JSON",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [],
  },
  {
    name: "inspect",
    summary: "compare the configuration of a container with the kernel's settings",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [flag("format", "string", "json (default) or text", { short: "f", value: "FORMAT" })],
  },
  {
    name: "list",
    summary: "list the containers",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("format", "string", "form of the output (default: table)", { short: "f", value: "table|json" }),
      flag("quiet", "boolean", "ids only", { short: "q" }),
    ],
  },
  {
    name: "ps",
    summary: "show the processes of a container",
    positionals: "<container-id> [ps-options...]",
    minimum: 1,
    maximum: Number.POSITIVE_INFINITY,
    stopsAtFirst: true,
    flags: [flag("format", "string", "form of the output (default: table)", { short: "f", value: "table|json" })],
  },
  {
    name: "events",
    summary: "show resource use of a container, and kills for lack of memory",
    positionals: "<container-id>",
    minimum: 1,
    maximum: 1,
    flags: [
      flag("interval", "string", "time between two statistics (default: 5s)", { value: "DURATION" }),
      flag("stats", "boolean", "show the statistics once"),
      flag("format", "string", "form of the output (default: json)", { short: "f", value: "table|json" }),
    ],
  },
  {
    name: "features",
    summary: "show what this runtime can do",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [flag("format", "string", "form of the output (default: json)", { short: "f", value: "table|json" })],
  },
  {
    name: "spec",
    summary: "write an example config.json",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      BUNDLE,
      flag("file", "string", "write this file (default: config.json); a relative path starts in the bundle", { short: "f", value: "FILE" }),
      flag("rootless", "boolean", "for a user without rights on the host"),
    ],
  },
  {
    name: "completion",
    summary: "print the completion script of a shell",
    positionals: "<bash|zsh|fish>",
    minimum: 1,
    maximum: 1,
    flags: [],
  },
];
