/** Manual of the verbs that show what would be, and of those that compare it with what is. */
import type { VerbManual } from "./definition.ts";

export const DRY_RUN_MANUAL = {
  plan: {
    description: [
      "Compiles the bundle and prints the operations that create would execute, in order and by phase. Each operation names the field of " +
        "config.json that asks for it. plan changes nothing and does not need root. The first line has the digest of the plan; create and run accept " +
        "it with --expect-plan. For a pod sandbox, and for a single container with limits, a SANDBOX section shows the resources that a virtual " +
        "machine for it would need.",
      "Without an id, the container is named after the bundle's directory.",
      "With --host FILE, the plan is for another host: runt check -f json has written FILE there.",
    ],
    examples: [
      "runt plan -b /bundles/web",
      "runt plan --explain -b /bundles/web web",
      "runt plan --host node.json -b /bundles/web web",
      "# create exactly the plan that was reviewed",
      "runt plan -f json --out web.plan -b /bundles/web web",
      "runt create --expect-plan web.plan -b /bundles/web web",
    ],
    seeAlso: ["create", "validate", "check"],
  },
  validate: {
    description: [
      "Checks bundles, configuration files, or standard input (-), and reports every problem. It finds wrong JSON and wrong types, with line and " +
        "column. It finds unknown fields and words, and suggests the nearest known one. It checks the rules of the specification and of the kernel, and " +
        "lists features that this host does not have. validate changes nothing and does not need root.",
      "An error is a problem for which create would refuse the configuration. A warning is probably a mistake. Advice is everything else.",
      "With several files, there is one summary for all of them, and JSON is a list. The text format shows the first three findings of a code in " +
        "full, and only the places of the others.",
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
      ["1", "there are findings of the level of --fail-on, or of a higher level"],
      ["2", "a file could not be read"],
    ],
    seeAlso: ["plan", "check"],
  },
  check: {
    description: [
      "Shows the features that this host offers to containers, the missing ones, and how to get them. check changes nothing.",
      "With --measure it also measures how long the kernel takes to move a process into a cgroup, and says how to make that shorter. To measure, it " +
        "makes a cgroup below its own, moves itself there and back, and removes the cgroup.",
      "plan and validate read the JSON output with --host. With it, a laptop can show the plan for a production node.",
    ],
    examples: ["runt check", "runt check --measure", "runt check -f json > node.json"],
    seeAlso: ["plan", "validate", "features"],
  },
  diff: {
    description: [
      "Compares the effective settings of two bundles, or of a bundle and a container, with every default filled in. A different order of " +
        "fields, another spelling, or a default that is written out is not a difference.",
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
      "Compares the configuration of a container with the settings that the kernel shows, and marks differences with DRIFT. It also shows the " +
        "warnings of create and, while a container is being created, the operation that is in progress.",
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
      "Explains the code of a finding of runt validate, or of an error. For a finding it says what the code means, why it matters and what to do, " +
        "with a wrong and a correct example. For an error it says what the code means, its exit status, and the causes of its messages. The log and " +
        "validate print these codes. Without a code, explain lists all of them. The texts are part of the program.",
    ],
    examples: ["runt explain", "runt explain mount-kind", "runt explain wrong-status"],
    seeAlso: ["validate"],
  },
} as const satisfies Readonly<Record<string, VerbManual>>;
