/** What a result means for the suite. */
import type { Result } from "./run.ts";
import type { SubjectName } from "./subjects.ts";

/** Why the suite fails with this result; undefined if it does not. What becomes of the peers is only shown. */
export function problem(name: SubjectName, result: Result): string | undefined {
  const isPeer = name === "crun" || name === "runc";
  if (isPeer || "skipped" in result) return undefined;
  if ("broken" in result) return `${name}: ${result.broken}`;
  if (name === "runt" && !result.held) return `succeeds against runt: ${result.detail}`;
  if (name === "undefended" && result.held) return `proves nothing, for it fails against runt without the defence too: ${result.detail}`;
  return undefined;
}
