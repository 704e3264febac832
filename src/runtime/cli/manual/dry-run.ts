/** Manual of the verbs that show what would be, and of those that compare it with what is. */
import type { VerbManual } from "./definition.ts";

export const DRY_RUN_MANUAL = {
  plan: {
    description: [
      "Compiles the bundle and prints the operations that create would execute, in order and by phase, each with the field of config.json that " +
        "asks for it. Nothing is changed, and root is not needed. The first line has the digest of the plan, which create and run take with " +
        "--expect-plan. For a pod sandbox, and for a single container with limits, a SANDBOX section says what a virtual machine for it would need.",
      "Without an id the plan is that of a container named after the bundle's directory.",
      "With --host FILE the host is the one whose facts runt check -f json has written there.",
    ],
    examples: [
      "runt plan -b /bundles/web",
      "runt plan --explain -b /bundles/web web",
      "runt plan --host node.json -b /bundles/web web",
      "# what has been read is what is made",
      "runt plan -f json --out web.plan -b /bundles/web web",
      "runt create --expect-plan web.plan -b /bundles/web web",
    ],
    seeAlso: ["create", "validate", "check"],
  },
  validate: {
    description: [
      "Says everything that is wrong with bundles, configuration files, or standard input (-): the structure with line and column, fields and " +
        "words that are unknown with the nearest known one, what the specification and the kernel demand, and what this host lacks. Nothing is " +
        "changed, and root is not needed. An error is what create would refuse; a warning is what is probably not meant; advice is the rest.",
      "Of several files each is looked at, the summary is one, and JSON is a list. Text tells three findings of a code and names the places of " +
        "the others.",
      "Every finding has a stable code; runt explain CODE explains it with an example.",
    ],
    examples: [
      "runt validate -b /bundles/web",
      "runt validate bundles/* web/config.json",
      "runt validate --fail-on warning -f sarif web/config.json > web.sarif",
      "runt validate --host node.json -b /bundles/web",
      "runt validate --host none - < config.json",
    ],
    exitStatus: [
      ["1", "findings of the level of --fail-on, or above"],
      ["2", "there was nothing to read"],
    ],
    seeAlso: ["plan", "check"],
  },
  check: {
    description: [
      "Shows what this host offers to containers, what is missing and for which feature, and what to do about it. Nothing is changed.",
      "With --measure it also measures how long the kernel takes to move a process into a cgroup, and says what makes that shorter. For this it " +
        "makes a cgroup below its own, moves itself there and back, and removes it.",
      "Its JSON is a file for --host of plan and validate: the plan of a production node on a laptop.",
    ],
    examples: ["runt check", "runt check --measure", "runt check -f json > node.json"],
    seeAlso: ["plan", "validate", "features"],
  },
  diff: {
    description: [
      "Compares the effective settings, after everything is derived, of two bundles or of a bundle and a container: what the order of fields, " +
        "spellings and defaults do not change is equal.",
    ],
    examples: ["runt diff /bundles/web /bundles/web.new", "runt diff /bundles/web web"],
    exitStatus: [
      ["0", "they are equal"],
      ["1", "they differ"],
      ["2", "they could not be compared"],
    ],
    seeAlso: ["plan", "inspect"],
  },
  inspect: {
    description: [
      "Shows what was asked for a container beside what the kernel has, with DRIFT where they differ; the warnings that create has kept; and, of " +
        "a container that is being created, the operation it is in.",
    ],
    examples: ["runt inspect web", "runt inspect -f text web"],
    seeAlso: ["state", "diff"],
  },
  schema: {
    description: [
      "Prints the JSON Schema of config.json, or of a document that runt prints or keeps. An editor that knows JSON Schema completes and " +
        "checks config.json with it.",
    ],
    examples: ["runt schema > config.schema.json", "runt schema plan"],
    seeAlso: ["validate"],
  },
  explain: {
    description: [
      "Explains a code: of a finding of runt validate (what it means, why, what to do, an example with and without it), or of an error, as the log " +
        "and validate print it (what it means, its exit status, and what is behind its messages). Without a code it lists all of them. Nothing is " +
        "looked up anywhere else.",
    ],
    examples: ["runt explain", "runt explain mount-kind", "runt explain wrong-status"],
    seeAlso: ["validate"],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
