/** Verbs that show what would be. */
import { CREATE_FLAGS } from "./create-flags.ts";
import { flag, type VerbDefinition } from "./definition.ts";

export const DRY_RUN_VERBS: readonly VerbDefinition[] = [
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
  },
];
