/** Records what an item asks for. Then the tests that can notice a missing row are found without running all of them. */
import { spawnSync } from "node:child_process";
import type { Context } from "./context.ts";

export interface Asked {
  /** Keys and texts of its configurations. */
  readonly words: readonly string[];
  /** Kinds of operations in its plans. */
  readonly ops: readonly string[];
}

export function asked({ bundles, runtime, root }: Context): Asked {
  const words = new Set<string>();
  const ops = new Set<string>();
  for (const { path, config } of bundles) {
    collect(config, words);
    const { stdout } = spawnSync(runtime.path, ["--root", root, "plan", "--bundle", path, "--format", "json"], { encoding: "utf8" });
    for (const [, name] of stdout.matchAll(/"op":\s*"([\w.]+)"/g)) ops.add(name ?? "");
  }
  return { words: [...words], ops: [...ops] };
}

function collect(value: unknown, words: Set<string>): void {
  if (typeof value === "string") words.add(value);
  else if (Array.isArray(value)) for (const one of value) collect(one, words);
  else if (typeof value === "object" && value !== null) {
    for (const [key, one] of Object.entries(value)) {
      words.add(key);
      collect(one, words);
    }
  }
}
