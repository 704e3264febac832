/** A plan as a Mermaid flowchart: one lane an actor, its phases in order, and the messages between them. Pure. */

import type { Actor } from "../../shared/protocol/index.ts";
import { describeOperation } from "./describe.ts";
import { messageName } from "./names.ts";
import type { Op, Plan } from "./plan.ts";

const ACTORS: readonly Actor[] = ["runtime", "intermediate", "init"];
const TITLES: Readonly<Record<Actor, string>> = {
  runtime: "runtime (bin/runt)",
  intermediate: "intermediate (helper, on the host)",
  init: "init (helper, becomes the program)",
};
/** Longest text of one box; a whole list of device rules helps nobody in a picture. */
const LONGEST = 60;

interface Step {
  readonly op: Op;
  readonly index: number;
}

export function printMermaid(plan: Plan): string {
  const steps = plan.ops.map((op, index) => ({ op, index }));
  return ["flowchart TB", ...ACTORS.flatMap((actor) => lane(actor, steps)), ...arrows(steps), ""].join("\n");
}

function lane(actor: Actor, steps: readonly Step[]): string[] {
  const own = steps.filter(({ op }) => op.actor === actor);
  if (own.length === 0) return [];
  const lines = [`  subgraph ${actor}["${TITLES[actor]}"]`, "    direction TB"];
  let phase = "";
  let count = 0;
  for (const step of own) {
    if (step.op.phase !== phase) {
      if (phase !== "") lines.push("    end");
      phase = step.op.phase;
      lines.push(`    subgraph ${actor}_${++count}_${phase}["${phase}"]`);
    }
    lines.push(`      n${step.index + 1}["${boxText(step)}"]`);
  }
  lines.push("    end", "  end");
  return lines;
}

function boxText({ op, index }: Step): string {
  const text = `${index + 1} ${op.op} ${describeOperation(op)}`.trim();
  return entities(text.length > LONGEST ? `${text.slice(0, LONGEST - 1)}…` : text);
}

/** Mermaid knows entities by number with # in place of &. */
function entities(text: string): string {
  return text.replace(/["#<>&[\]{}|`\\]/g, (character) => `#${character.charCodeAt(0)};`);
}

/** In list order within an actor; dotted from the actor that makes another go on. */
function arrows(steps: readonly Step[]): string[] {
  const lines: string[] = [];
  for (const actor of ACTORS) {
    const own = steps.filter(({ op }) => op.actor === actor).map(({ index }) => `n${index + 1}`);
    if (own.length > 1) lines.push(`  ${own.join(" --> ")}`);
  }
  const first = (actor: Actor) => steps.find(({ op }) => op.actor === actor);
  const spawn = steps.find(({ op }) => op.op === "helper.spawn");
  const clone = steps.find(({ op }) => op.op === "process.clone");
  if (spawn && first("intermediate")) lines.push(`  n${spawn.index + 1} -. starts .-> n${first("intermediate")!.index + 1}`);
  if (clone && first("init")) lines.push(`  n${clone.index + 1} -. clones .-> n${first("init")!.index + 1}`);
  for (const { op, index } of steps) {
    if (op.op !== "sync.send") continue;
    const waits = steps.find(
      ({ op: other }) => other.op === "sync.wait" && other.actor !== op.actor && other.args.message === op.args.message,
    );
    if (waits) lines.push(`  n${index + 1} -. ${messageName(op.args.message)} .-> n${waits.index + 1}`);
  }
  return lines;
}
