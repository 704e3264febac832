/** Only cgroup v2 has device programs. The one of most containers stands in the engine image, as their rules do. */
import { USUAL_LIST } from "./emulator.ts";
import { deviceProgram } from "./program.ts";
import { decodeRules } from "./rule.ts";
import { USUAL_RULES } from "./usual.ts";

const USUAL_PROGRAM = deviceProgram(USUAL_LIST);

/** undefined: everything is allowed. */
export function programOf(rules: readonly string[]): ArrayBuffer | undefined {
  if (rules === USUAL_RULES) return USUAL_PROGRAM;
  const list = decodeRules(rules);
  return list.defaultAllow && list.exceptions.length === 0 ? undefined : deviceProgram(list);
}
