/** Warnings of a call that has succeeded. What fails says why it failed and nothing else: Podman reads the log as one JSON value then. */
import { printable } from "../errors/index.ts";
import * as host from "../host/index.ts";
import type { FlagValues } from "./parse.ts";
import type { Reporter } from "./report.ts";
import { styleOf } from "./style.ts";

export interface Warned {
  readonly warnings: readonly string[];
  /** Those of them that everybody is to be told. */
  readonly demanded: readonly string[];
}

/**
 * With --debug, or a --log-level that has warnings, all of them; else what the specification demands, but not into a JSON log: engines keep
 * that, and expect it to be empty or to have the one error. They go to --log, without it to stderr.
 */
export function tellWarnings(global: FlagValues, reporter: Reporter, { warnings, demanded }: Warned): void {
  const level = global["debug"] === true ? "debug" : global["log-level"];
  const isSilent = level === "error" || (level === undefined && global["log"] !== undefined && global["log-format"] === "json");
  const told = level === undefined ? demanded : warnings;
  if (isSilent || told.length === 0) return;
  const label = styleOf(2).warning("warning:");
  for (const warning of new Set(told)) reporter.note("warning", warning, () => host.write(2, `${label} ${printable(warning)}\n`));
}
