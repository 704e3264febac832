import type { Warning } from "../config/index.ts";

/** config, linux.process: a capability that cannot be granted MUST be logged as a warning. */
export function isDemanded({ code }: Pick<Warning, "code">): boolean {
  return code === "capability-unknown" || code === "ambient-not-inheritable";
}
