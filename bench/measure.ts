/** Times one scenario for two sides in turns. */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Scenario } from "./scenarios.ts";
import { type Side, TOOLS } from "./side.ts";
import { type Comparison, compare, parseRounds } from "./stats.ts";

/** What a scenario came to, or why it did not: the peer has no such verb, or the hierarchy no controllers. */
export type Outcome = Comparison | { readonly missing: string };

/** A median of fewer rounds means little. */
const FEWEST_ROUNDS = 3;

export function measure(scenario: Scenario, sides: readonly [Side, Side], rounds: number): Outcome {
  const { verb, share = 1, live = false } = scenario;
  const lacking = sides.find((side) => verb !== undefined && !side.has(verb));
  if (lacking) return { missing: `${lacking.name} has no \`${verb}\`` };
  if (scenario.limits && !sides[0].place.hasControllers) return { missing: "there is no controller" };
  const undo = scenario.surroundings?.(sides[0].place);
  try {
    for (const side of sides) {
      if (live) side.run("run", "-d", "-b", side.bundle("sleep"), side.live);
      scenario.prepare?.(side);
    }
    const lines = [`rounds ${Math.max(FEWEST_ROUNDS, Math.round(rounds * share))}`];
    for (const [index, side] of sides.entries()) {
      const letter = "ab"[index];
      const { before = [], run, after = [] } = scenario.lines(side);
      for (const line of before) lines.push(`${letter}.before ${line}`);
      for (const line of run) lines.push(`${letter}.run ${line}`);
      for (const line of after) lines.push(`${letter}.after ${line}`);
    }
    const input = `${lines.join("\n")}\n`;
    return compare(
      parseRounds(execFileSync(join(TOOLS, "pair"), { input, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"], maxBuffer: 1 << 24 })),
    );
  } finally {
    for (const side of sides) for (const of of ["root", "list10", "list1000"]) side.deleteAll(of);
    undo?.();
  }
}
