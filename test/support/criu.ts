/** The criu of this machine, for tests with a real one. */
import { spawnSync } from "node:child_process";
import { isRoot, isRunt } from "./harness.ts";

/** Why it cannot be used; undefined: it can. An old criu may not work on a new kernel, which only its own check finds. */
export function criuMissing(): string | undefined {
  if (!isRunt || !isRoot) return "needs root, and is about runt alone";
  const check = spawnSync("criu", ["check"], { encoding: "utf8", timeout: 60_000 });
  if (check.error) return "criu is not installed";
  return check.status === 0 ? undefined : `criu does not work here: ${check.stderr.trim().split("\n").at(-1)}`;
}
