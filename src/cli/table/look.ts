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
    name: "list",
    summary: "list the containers",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [
      flag("format", "string", "table (default) or json", { short: "f", value: "FORMAT" }),
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
    flags: [flag("format", "string", "table (default) or json", { short: "f", value: "FORMAT" })],
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
  },
  {
    name: "features",
    summary: "show what this runtime can do as JSON",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [],
  },
  {
    name: "spec",
    summary: "write an example config.json",
    positionals: "",
    minimum: 0,
    maximum: 0,
    flags: [BUNDLE, flag("rootless", "boolean", "for a user without rights on the host")],
  },
];
